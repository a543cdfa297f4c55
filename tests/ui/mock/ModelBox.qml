import QtQml

QtObject {
    property string modelName: "guide"
    property string folder: ""
    property bool isGuideModel: true
    property bool loaded: true
    property bool loading: false
    property real progress: 0
    property string progressText: ""
    property int elapsedSeconds: 0
    property string deviceName: "CPU"
    property string deviceNote: ""
    property string precisionName: "FP16"
    property string memoryText: "14 MB"
    property int device: 0
    property var deviceNames: ["Auto", "CPU", "CUDA"]
    property int precision: 0
    property var precisionNames: ["Auto", "FP32", "FP16", "INT8", "INT4"]
    property string status: ""

    property var calls: []

    function load(url: var) {
        calls.push(["load", url.toString()])
    }
    function loadGuideModel() {
        calls.push(["loadGuideModel"])
    }
    function unload() {
        calls.push(["unload"])
    }
    function cancel() {
        calls.push(["cancel"])
    }
    function reload() {
        calls.push(["reload"])
    }
    function canDrop(urls: var): bool {
        return urls.length === 1 && urls[0].toString().startsWith("file:")
    }
}
