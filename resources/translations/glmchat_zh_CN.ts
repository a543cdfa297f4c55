<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>AnswerFooter</name>
    <message>
        <source>Copy answer</source>
        <translation>复制回答</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>Regenerate</source>
        <translation>重新生成</translation>
    </message>
</context>
<context>
    <name>AnswerView</name>
    <message>
        <source>Answer</source>
        <translation>回答</translation>
    </message>
</context>
<context>
    <name>CodeBlock</name>
    <message>
        <source>code</source>
        <translation>代码</translation>
    </message>
    <message>
        <source>Copy code</source>
        <translation>复制代码</translation>
    </message>
</context>
<context>
    <name>Composer</name>
    <message>
        <source>Message</source>
        <translation>消息</translation>
    </message>
    <message>
        <source>Write a message</source>
        <translation>输入消息</translation>
    </message>
    <message>
        <source>The model is loading; you can already write.</source>
        <translation>模型正在加载，可以先写。</translation>
    </message>
    <message>
        <source>Choose a model to send messages.</source>
        <translation>选择模型后即可发送。</translation>
    </message>
    <message>
        <source>Enter sends, Shift+Enter starts a new line</source>
        <translation>Enter 发送，Shift+Enter 换行</translation>
    </message>
    <message>
        <source>Ctrl+Enter sends, Enter starts a new line</source>
        <translation>Ctrl+Enter 发送，Enter 换行</translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation>正在停止…</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>发送</translation>
    </message>
    <message>
        <source>Stop the answer (Esc)</source>
        <translation>停止回答（Esc）</translation>
    </message>
</context>
<context>
    <name>ConversationView</name>
    <message>
        <source>Conversation</source>
        <translation>对话</translation>
    </message>
    <message>
        <source>New text below</source>
        <translation>下方有新内容</translation>
    </message>
    <message>
        <source>Jump to latest</source>
        <translation>跳到最新</translation>
    </message>
</context>
<context>
    <name>CopyButton</name>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>已复制</translation>
    </message>
</context>
<context>
    <name>DropHint</name>
    <message>
        <source>Drop the folder to load its model</source>
        <translation>松开即可加载此文件夹中的模型</translation>
    </message>
</context>
<context>
    <name>EmptyState</name>
    <message>
        <source>Write a short poem about the sea.</source>
        <translation>写一首关于大海的短诗。</translation>
    </message>
    <message>
        <source>Start a conversation</source>
        <translation>开始对话</translation>
    </message>
    <message>
        <source>The model is being loaded</source>
        <translation>正在加载模型</translation>
    </message>
    <message>
        <source>No model yet</source>
        <translation>还没有模型</translation>
    </message>
    <message>
        <source>You can already write; the message can be sent when the model is ready.</source>
        <translation>可以先写好消息，模型就绪后即可发送。</translation>
    </message>
    <message>
        <source>%1 runs on this machine. Nothing you write leaves it.</source>
        <translation>%1 在本机运行，你写的内容不会离开这台电脑。</translation>
    </message>
    <message>
        <source>This is a small built-in model for trying things out. It knows little and often gets things wrong.</source>
        <translation>这是一个供试用的内置小模型。它知道得很少，也经常出错。</translation>
    </message>
    <message>
        <source>Choose a model folder, or use the small built-in model to try things out.</source>
        <translation>请选择模型文件夹，或先用内置小模型试试。</translation>
    </message>
    <message>
        <source>Loading progress</source>
        <translation>加载进度</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Cancel loading</source>
        <translation>取消加载</translation>
    </message>
    <message>
        <source>To talk to ChatGLM2-6B</source>
        <translation>与 ChatGLM2-6B 对话</translation>
    </message>
    <message>
        <source>Download the model folder THUDM/chatglm2-6b from Hugging Face or ModelScope (about 12 GB; the int4 version about 4 GB). It holds config.json, tokenizer.model and the weight files. Then choose that folder, or drop it on this window.</source>
        <translation>从 Hugging Face 或魔搭社区（ModelScope）下载模型文件夹 THUDM/chatglm2-6b（约 12 GB；int4 版约 4 GB），其中有 config.json、tokenizer.model 和权重文件。然后选择这个文件夹，或把它拖到本窗口。</translation>
    </message>
    <message>
        <source>Choose folder…</source>
        <translation>选择文件夹…</translation>
    </message>
    <message>
        <source>Use the built-in model</source>
        <translation>使用内置模型</translation>
    </message>
    <message>
        <source>Something to try</source>
        <translation>可以试试</translation>
    </message>
    <message>
        <source>What can you do?</source>
        <translation>你能做什么？</translation>
    </message>
    <message>
        <source>What is a token?</source>
        <translation>什么是词元？</translation>
    </message>
    <message>
        <source>How do I load ChatGLM2-6B?</source>
        <translation>怎么加载 ChatGLM2-6B？</translation>
    </message>
    <message>
        <source>Explain quantum entanglement in three sentences.</source>
        <translation>用三句话解释量子纠缠。</translation>
    </message>
    <message>
        <source>Write a Python function that tells whether a number is prime.</source>
        <translation>写一个判断素数的 Python 函数。</translation>
    </message>
</context>
<context>
    <name>ErrorCardView</name>
    <message>
        <source>Copy details</source>
        <translation>复制详情</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>关闭</translation>
    </message>
</context>
<context>
    <name>HeaderBar</name>
    <message>
        <source>New chat</source>
        <translation>新对话</translation>
    </message>
    <message>
        <source>Ctrl+N</source>
        <translation>Ctrl+N</translation>
    </message>
    <message>
        <source>Hide the side panel</source>
        <translation>隐藏侧栏</translation>
    </message>
    <message>
        <source>Show the side panel</source>
        <translation>显示侧栏</translation>
    </message>
    <message>
        <source>%1 (Ctrl+,)</source>
        <translation>%1（Ctrl+,）</translation>
    </message>
</context>
<context>
    <name>Main</name>
    <message>
        <source>Choose a model folder</source>
        <translation>选择模型文件夹</translation>
    </message>
</context>
<context>
    <name>ModelCard</name>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>No model</source>
        <translation>没有模型</translation>
    </message>
    <message>
        <source>Loading progress</source>
        <translation>加载进度</translation>
    </message>
    <message>
        <source>%1 · %2 s</source>
        <translation>%1 · %2 秒</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Cancel loading</source>
        <translation>取消加载</translation>
    </message>
    <message>
        <source>Choose folder…</source>
        <translation>选择文件夹…</translation>
    </message>
    <message>
        <source>Use the built-in model</source>
        <translation>使用内置模型</translation>
    </message>
    <message>
        <source>Unload</source>
        <translation>卸载</translation>
    </message>
    <message>
        <source>Unload the model</source>
        <translation>卸载模型</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>精度</translation>
    </message>
</context>
<context>
    <name>ParameterList</name>
    <message>
        <source>Generation</source>
        <translation>生成</translation>
    </message>
    <message>
        <source>Undo reset</source>
        <translation>撤销重置</translation>
    </message>
    <message>
        <source>Reset all</source>
        <translation>全部重置</translation>
    </message>
    <message>
        <source>Changes apply from the next answer</source>
        <translation>改动从下一条回答起生效</translation>
    </message>
</context>
<context>
    <name>ParameterRow</name>
    <message>
        <source>Reset %1</source>
        <translation>重置%1</translation>
    </message>
    <message>
        <source>Reset to the default</source>
        <translation>恢复默认值</translation>
    </message>
</context>
<context>
    <name>PreferencesSection</name>
    <message>
        <source>Window</source>
        <translation>窗口</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>语言</translation>
    </message>
    <message>
        <source>System</source>
        <translation>跟随系统</translation>
    </message>
    <message>
        <source>Theme</source>
        <translation>主题</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>浅色</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>深色</translation>
    </message>
    <message>
        <source>Enter sends</source>
        <translation>按 Enter 发送</translation>
    </message>
    <message>
        <source>glmchat %1</source>
        <translation>glmchat %1</translation>
    </message>
</context>
<context>
    <name>SeedRow</name>
    <message>
        <source>Random</source>
        <translation>随机</translation>
    </message>
    <message>
        <source>Random seed</source>
        <translation>随机种子</translation>
    </message>
    <message>
        <source>A new seed for each answer</source>
        <translation>每次回答使用新的种子</translation>
    </message>
</context>
<context>
    <name>StatusLine</name>
    <message>
        <source>%1 tokens/s</source>
        <translation>%1 词元/秒</translation>
    </message>
    <message numerus="yes">
        <source>%n oldest round(s) no longer sent</source>
        <translation>
            <numerusform>最早的 %n 轮不再发送</numerusform>
        </translation>
    </message>
    <message>
        <source>context %1 / %2</source>
        <translation>上下文 %1 / %2</translation>
    </message>
    <message>
        <source>Context used</source>
        <translation>已用上下文</translation>
    </message>
</context>
<context>
    <name>glmchat::AnswerText</name>
    <message>
        <source>Cut off: the context of %1 tokens is full</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cut off at %1 tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Failed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 tokens/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>first token %1 s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 token</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>glmchat::ChatSession</name>
    <message>
        <source>No model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loading the model…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ready</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Writing…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading %1 tokens… %2 %</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Try again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The answer failed: %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>glmchat::ModelBox</name>
    <message>
        <source>Loading %1 %</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>weights %1 · cache %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As stored</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No model is loaded</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loading %1: %2 %</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 could not be loaded</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The last model is not known any more</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>glmchat was closed while loading %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It was not loaded again by itself. The computer may have too little memory for it: a smaller precision needs less.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Load again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The chosen model will not be remembered</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 could not be loaded: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Load as INT4</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Use the CPU</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Try again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Use the built-in model</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>glmchat::ParameterModel</name>
    <message>
        <source>Temperature</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Higher values make answers more varied, lower ones more predictable. 0 always takes the most probable word.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Top-p</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draws only from the most probable words that together reach this share. 1 switches it off.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Top-k</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draws only from this many most probable words. 0 switches it off.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Repetition penalty</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Makes words that were already used less probable. 1 switches it off.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Longest answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>An answer is cut off after this many tokens.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Seed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The same number, question and settings give the same answer again. Random: a new number for every answer.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Context size</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How many tokens of the conversation the model can see. More needs more memory. Applies when a model is loaded the next time.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>glmchat::StatusText</name>
    <message>
        <source>a value is out of range</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a file or folder is missing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a file is damaged</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not supported</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not enough memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the device failed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the context is full</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the model computed invalid numbers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cancelled</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the engine is busy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>an unexpected error</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>glmchat::StorageText</name>
    <message>
        <source>The chat goes on, but is lost when the window closes.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The conversation file was damaged</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 cannot be read. It was kept as %2, and a new file was started.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The conversation file belongs to another program</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 was not written by glmchat. It was kept as %2, and a new file was started.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Conversations of a newer glmchat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 was written by a newer version and is left untouched. Update glmchat to see it, or choose another folder with --data-dir.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>glmchat is already open</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Another glmchat window keeps its conversations in %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Conversations cannot be saved</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 cannot be opened: %2. Check the folder&apos;s permissions, or choose another one with --data-dir.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This conversation is not being saved</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The disk is full, %1 cannot grow. Free some space; saving is tried again with the next message.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 cannot be written: %2. Saving is tried again with the next message.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>main</name>
    <message>
        <source>The settings were damaged</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The defaults are used. The old file was kept as %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The settings cannot be saved</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation type="unfinished"></translation>
    </message>
</context>
</TS>
