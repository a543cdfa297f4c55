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
        <translation>已截断：%1 个词元的上下文已满</translation>
    </message>
    <message>
        <source>Cut off at %1 tokens</source>
        <translation>已在第 %1 个词元处截断</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>已停止</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>%1 tokens/s</source>
        <translation>%1 词元/秒</translation>
    </message>
    <message>
        <source>first token %1 s</source>
        <translation>首个词元 %1 秒</translation>
    </message>
    <message>
        <source>1 token</source>
        <translation>1 个词元</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 个词元</translation>
    </message>
</context>
<context>
    <name>glmchat::ChatSession</name>
    <message>
        <source>No model</source>
        <translation>没有模型</translation>
    </message>
    <message>
        <source>Loading the model…</source>
        <translation>正在加载模型…</translation>
    </message>
    <message>
        <source>Ready</source>
        <translation>就绪</translation>
    </message>
    <message>
        <source>Writing…</source>
        <translation>正在回答…</translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation>正在停止…</translation>
    </message>
    <message>
        <source>Reading…</source>
        <translation>正在读取…</translation>
    </message>
    <message>
        <source>Reading %1 tokens… %2 %</source>
        <translation>正在读取 %1 个词元… %2 %</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>新对话</translation>
    </message>
    <message>
        <source>The answer failed: %1</source>
        <translation>回答失败：%1</translation>
    </message>
</context>
<context>
    <name>glmchat::ModelBox</name>
    <message>
        <source>Loading %1 %</source>
        <translation>正在加载 %1 %</translation>
    </message>
    <message>
        <source>weights %1 · cache %2</source>
        <translation>权重 %1 · 缓存 %2</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>As stored</source>
        <translation>按文件</translation>
    </message>
    <message>
        <source>No model is loaded</source>
        <translation>未加载模型</translation>
    </message>
    <message>
        <source>Loading %1: %2 %</source>
        <translation>正在加载 %1：%2 %</translation>
    </message>
    <message>
        <source>%1 could not be loaded</source>
        <translation>无法加载 %1</translation>
    </message>
    <message>
        <source>The last model is not known any more</source>
        <translation>找不到上次使用的模型</translation>
    </message>
    <message>
        <source>glmchat was closed while loading %1</source>
        <translation>上次加载 %1 时 glmchat 意外退出</translation>
    </message>
    <message>
        <source>It was not loaded again by itself. The computer may have too little memory for it: a smaller precision needs less.</source>
        <translation>因此没有自动重新加载。可能是内存不足：降低精度可以减少内存占用。</translation>
    </message>
    <message>
        <source>Load again</source>
        <translation>重新加载</translation>
    </message>
    <message>
        <source>The chosen model will not be remembered</source>
        <translation>无法记住所选的模型</translation>
    </message>
    <message>
        <source>%1 could not be loaded: %2</source>
        <translation>无法加载 %1：%2</translation>
    </message>
    <message>
        <source>Load as INT4</source>
        <translation>以 INT4 加载</translation>
    </message>
    <message>
        <source>Use the CPU</source>
        <translation>使用 CPU</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>Use the built-in model</source>
        <translation>使用内置模型</translation>
    </message>
</context>
<context>
    <name>glmchat::ParameterModel</name>
    <message>
        <source>Temperature</source>
        <translation>温度</translation>
    </message>
    <message>
        <source>Higher values make answers more varied, lower ones more predictable. 0 always takes the most probable word.</source>
        <translation>数值越高，回答越多样；越低，越稳定。为 0 时总是选择概率最高的词。</translation>
    </message>
    <message>
        <source>Top-p</source>
        <translation>Top-p</translation>
    </message>
    <message>
        <source>Draws only from the most probable words that together reach this share. 1 switches it off.</source>
        <translation>只从概率最高、累计达到此比例的词中抽样。为 1 时关闭。</translation>
    </message>
    <message>
        <source>Top-k</source>
        <translation>Top-k</translation>
    </message>
    <message>
        <source>Draws only from this many most probable words. 0 switches it off.</source>
        <translation>只从概率最高的这么多个词中抽样。为 0 时关闭。</translation>
    </message>
    <message>
        <source>Repetition penalty</source>
        <translation>重复惩罚</translation>
    </message>
    <message>
        <source>Makes words that were already used less probable. 1 switches it off.</source>
        <translation>降低已出现过的词的概率。为 1 时关闭。</translation>
    </message>
    <message>
        <source>Longest answer</source>
        <translation>最长回答</translation>
    </message>
    <message>
        <source>An answer is cut off after this many tokens.</source>
        <translation>回答达到此词元数时截断。</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>种子</translation>
    </message>
    <message>
        <source>The same number, question and settings give the same answer again. Random: a new number for every answer.</source>
        <translation>种子、问题和设置都相同时，回答也相同。随机：每个回答使用新的种子。</translation>
    </message>
    <message>
        <source>Context size</source>
        <translation>上下文长度</translation>
    </message>
    <message>
        <source>How many tokens of the conversation the model can see. More needs more memory. Applies when a model is loaded the next time.</source>
        <translation>模型能看到的对话词元数。越大占用内存越多。下次加载模型时生效。</translation>
    </message>
</context>
<context>
    <name>glmchat::StatusText</name>
    <message>
        <source>a value is out of range</source>
        <translation>数值超出范围</translation>
    </message>
    <message>
        <source>a file or folder is missing</source>
        <translation>缺少文件或文件夹</translation>
    </message>
    <message>
        <source>a file is damaged</source>
        <translation>文件已损坏</translation>
    </message>
    <message>
        <source>not supported</source>
        <translation>不支持</translation>
    </message>
    <message>
        <source>not enough memory</source>
        <translation>内存不足</translation>
    </message>
    <message>
        <source>the device failed</source>
        <translation>设备出错</translation>
    </message>
    <message>
        <source>the context is full</source>
        <translation>上下文已满</translation>
    </message>
    <message>
        <source>the model computed invalid numbers</source>
        <translation>模型算出了无效数值</translation>
    </message>
    <message>
        <source>cancelled</source>
        <translation>已取消</translation>
    </message>
    <message>
        <source>the engine is busy</source>
        <translation>引擎正忙</translation>
    </message>
    <message>
        <source>an unexpected error</source>
        <translation>意外错误</translation>
    </message>
    <message>
        <source>Running on the CPU: no NVIDIA driver was found.</source>
        <translation>在 CPU 上运行：未找到 NVIDIA 驱动。</translation>
    </message>
    <message>
        <source>Running on the CPU: the NVIDIA driver is too old.</source>
        <translation>在 CPU 上运行：NVIDIA 驱动版本过旧。</translation>
    </message>
    <message>
        <source>Running on the CPU: the NVIDIA driver reports no device.</source>
        <translation>在 CPU 上运行：NVIDIA 驱动未报告任何设备。</translation>
    </message>
</context>
<context>
    <name>glmchat::StorageText</name>
    <message>
        <source>The chat goes on, but is lost when the window closes.</source>
        <translation>对话可以继续，但关闭窗口后不会保留。</translation>
    </message>
    <message>
        <source>The conversation file was damaged</source>
        <translation>对话文件已损坏</translation>
    </message>
    <message>
        <source>%1 cannot be read. It was kept as %2, and a new file was started.</source>
        <translation>无法读取 %1。原文件已保留为 %2，并已新建文件。</translation>
    </message>
    <message>
        <source>The conversation file belongs to another program</source>
        <translation>对话文件属于其他程序</translation>
    </message>
    <message>
        <source>%1 was not written by glmchat. It was kept as %2, and a new file was started.</source>
        <translation>%1 不是由 glmchat 写入的。原文件已保留为 %2，并已新建文件。</translation>
    </message>
    <message>
        <source>Conversations of a newer glmchat</source>
        <translation>对话来自更新版本的 glmchat</translation>
    </message>
    <message>
        <source>%1 was written by a newer version and is left untouched. Update glmchat to see it, or choose another folder with --data-dir.</source>
        <translation>%1 由更新的版本写入，未作任何改动。请升级 glmchat 后查看，或用 --data-dir 选择其他文件夹。</translation>
    </message>
    <message>
        <source>glmchat is already open</source>
        <translation>glmchat 已经打开</translation>
    </message>
    <message>
        <source>Another glmchat window keeps its conversations in %1.</source>
        <translation>另一个 glmchat 窗口正在使用 %1 保存对话。</translation>
    </message>
    <message>
        <source>Conversations cannot be saved</source>
        <translation>无法保存对话</translation>
    </message>
    <message>
        <source>%1 cannot be opened: %2. Check the folder&apos;s permissions, or choose another one with --data-dir.</source>
        <translation>无法打开 %1：%2。请检查文件夹权限，或用 --data-dir 选择其他文件夹。</translation>
    </message>
    <message>
        <source>This conversation is not being saved</source>
        <translation>此对话未能保存</translation>
    </message>
    <message>
        <source>The disk is full, %1 cannot grow. Free some space; saving is tried again with the next message.</source>
        <translation>磁盘已满，%1 无法写入。请释放空间；发送下一条消息时会再次尝试保存。</translation>
    </message>
    <message>
        <source>%1 cannot be written: %2. Saving is tried again with the next message.</source>
        <translation>无法写入 %1：%2。发送下一条消息时会再次尝试保存。</translation>
    </message>
    <message>
        <source>The folder %1 cannot be written. Check its permissions, or choose another one with --data-dir.</source>
        <translation>无法写入文件夹 %1。请检查其权限，或用 --data-dir 选择其他文件夹。</translation>
    </message>
</context>
<context>
    <name>main</name>
    <message>
        <source>The settings were damaged</source>
        <translation>设置文件已损坏</translation>
    </message>
    <message>
        <source>The defaults are used. The old file was kept as %1.</source>
        <translation>已使用默认设置。原文件已保留为 %1。</translation>
    </message>
    <message>
        <source>The settings cannot be saved</source>
        <translation>无法保存设置</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
</context>
</TS>
