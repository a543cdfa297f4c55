import QtQuick
import GlmChat.App
import GlmChat.Ui

Main {
    id: root

    property string scenario: "conversation"
    property alias theme: preferenceData.theme

    readonly property var scenarios: ({
        empty: () => {},
        conversation: addConversation,
        streaming: () => {
            addConversation()
            session.messages.addUser("纠缠具体指什么？")
            session.messages.addPending()
            session.messages.stream("纠缠是指两个量子比特的状态不能分开描述：测量其中一个，另一个的结果就随之确定，无论它们相距多")
            session.state = EngineState.Decoding
            session.stateText = "Writing…"
            session.tokensPerSecond = 42.7
            session.draft = "那它和普通的随机有什么区别"
        },
        prefill: () => {
            addConversation()
            session.messages.addUser("And the cat?")
            session.messages.addPending()
            session.state = EngineState.Prefilling
            session.stateText = "Reading 812 tokens… 46 %"
        },
        flow: () => {  // streams for ever
            addConversation()
            session.messages.addUser("Tell me a long story.")
            session.messages.addPending()
            session.state = EngineState.Decoding
            session.stateText = "Writing…"
            streamTimer.start()
        },
        error: () => {
            addConversation()
            const error = session.error
            error.title = "Not enough memory for this model"
            error.message = "ChatGLM2-6B in FP16 needs 12.9 GB; 7.4 GB are free. INT4 needs 4.1 GB."
            error.detail = "loader: allocate 'transformer.encoder.layers.11.mlp.dense_h_to_4h.weight' [27392, 4096] FP16: 214 MiB"
            error.actionText = "Load as INT4"
            error.visible = true
        },
        loading: () => {
            modelBox.loaded = false
            modelBox.isGuideModel = false
            modelBox.loading = true
            modelBox.modelName = "chatglm2-6b"
            modelBox.folder = "/data/models/THUDM/chatglm2-6b"
            modelBox.progress = 0.37
            modelBox.progressText = "Loading 37 %"
            modelBox.elapsedSeconds = 14
            session.state = EngineState.Loading
            session.stateText = "Loading 37 %"
        },
        nomodel: () => {
            modelBox.loaded = false
            modelBox.isGuideModel = false
            modelBox.modelName = ""
            modelBox.status = "No model chosen"
            session.state = EngineState.NoModel
            session.stateText = "No model"
            session.contextLimit = 0
        }
    })

    function addConversation() {
        modelBox.isGuideModel = false
        modelBox.modelName = "chatglm2-6b"
        modelBox.folder = "/data/models/THUDM/chatglm2-6b"
        modelBox.deviceName = "RTX 3060"
        modelBox.precisionName = "INT4"
        modelBox.memoryText = "5.1 GB"
        modelBox.deviceNote = "No NVIDIA driver found, running on the CPU"
        session.contextUsed = 2310
        parameters.setValue("temperature", 0.95)
        const messages = session.messages
        messages.addUser("用一段话解释量子计算，再写个小例子")
        messages.addAnswer("x", [
            messages.paragraph("量子计算用量子比特代替普通比特：它可以同时处于 0 和 1 的叠加态，多个量子比特之间还能纠缠，于是一次运算能同时作用在许多状态上。测量时只得到其中一个结果，所以算法要让正确答案的概率变大。"),
            messages.code("from qiskit import QuantumCircuit\nqc = QuantumCircuit(2)\nqc.h(0)      # 叠加\nqc.cx(0, 1)  # 纠缠", "python"),
            messages.paragraph("مرحبا (hello) 123!")
        ], "42.7 tokens/s · first token 0.21 s · 186 tokens")
        messages.addUser("Show <img src=http://127.0.0.1:9/x> & <b>tags</b>, please. This line is long enough to need wrapping in the bubble of the user, which takes most of the column.")
        messages.addAnswer("Plain text is shown as it was written: <img src=http://127.0.0.1:9/x> & <b>tags</b>.", undefined,
                           "41.9 tokens/s · first token 0.18 s · 24 tokens")
    }

    session: ChatSession {}
    modelBox: ModelBox {}
    parameters: ParameterModel {}
    preferences: Preferences {
        id: preferenceData
    }

    Timer {
        id: streamTimer
        interval: 33
        repeat: true
        onTriggered: root.session.messages.stream("once upon a time ")
    }

    Component.onCompleted: Qt.callLater(scenarios[scenario])
}
