import QtQml

QtObject {
    property bool visible: false
    property string title: ""
    property string message: ""
    property string detail: ""
    property string actionText: ""

    property var calls: []

    function dismiss() {
        calls.push("dismiss")
        visible = false
    }
    function trigger() {
        calls.push("trigger")
    }
    function copyDetails() {
        calls.push("copyDetails")
    }
}
