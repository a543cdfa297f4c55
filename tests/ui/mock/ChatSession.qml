import QtQml
import GlmChat.App

QtObject {
    property MessageModel messages: MessageModel {}
    property int state: EngineState.Ready
    property bool generating: state === EngineState.Prefilling || state === EngineState.Decoding
                              || state === EngineState.Stopping
    property bool canSend: state === EngineState.Ready
    property bool canRegenerate: state === EngineState.Ready && messages.count > 0
    property bool canStop: state === EngineState.Prefilling || state === EngineState.Decoding
    property string draft: ""
    property int prefillDone: 0
    property int prefillTotal: 0
    property real tokensPerSecond: 0
    property int contextUsed: 0
    property int contextLimit: 8192
    property int droppedRounds: 0
    property string stateText: "Ready"
    property ErrorCard error: ErrorCard {}

    property var calls: []

    function send(text: string): bool {
        if (!canSend || text.trim() === "")
            return false
        calls.push(["send", text])
        draft = ""
        messages.addUser(text)
        return true
    }
    function stop() {
        calls.push(["stop"])
    }
    function regenerate() {
        calls.push(["regenerate"])
    }
    function newChat() {
        calls.push(["newChat"])
        messages.clear()
    }
    function copyMessage(row: int) {
        calls.push(["copyMessage", row])
    }
}
