import QtQml

QtObject {
    property string language: "system"
    property string theme: "system"
    property bool darkMode: theme === "dark"
    property bool enterSends: true
    property string appVersion: "0.1.0"

    property string copied: ""

    function copyText(text: string) {
        copied = text
    }
}
