import QtQuick
import GlmChat.App
import GlmChat.Theme
import GlmChat.Components

Column {
    id: root

    required property Preferences preferences

    readonly property var languages: ["system", "en", "zh_CN"]
    readonly property var themes: ["system", "light", "dark"]

    spacing: Theme.spacingSmall

    Text {
        height: Theme.compactControlHeight
        verticalAlignment: Text.AlignVCenter
        text: qsTr("Window")
        textFormat: Text.PlainText
        color: Theme.text
        font.family: Theme.sansFamily
        font.pixelSize: Theme.uiSize
        font.weight: Font.DemiBold
    }
    LabelledRow {
        width: parent.width
        label: qsTr("Language")

        ComboBox {
            Accessible.name: qsTr("Language")
            model: [qsTr("System"), "English", "简体中文"]
            selectedIndex: Math.max(0, root.languages.indexOf(root.preferences.language))
            onActivated: index => root.preferences.language = root.languages[index]
        }
    }
    LabelledRow {
        width: parent.width
        label: qsTr("Theme")

        ComboBox {
            Accessible.name: qsTr("Theme")
            model: [qsTr("System"), qsTr("Light"), qsTr("Dark")]
            selectedIndex: Math.max(0, root.themes.indexOf(root.preferences.theme))
            onActivated: index => root.preferences.theme = root.themes[index]
        }
    }
    Switch {
        width: parent.width
        text: qsTr("Enter sends")
        font.pixelSize: Theme.uiSize - 1
        checked: root.preferences.enterSends
        onToggled: root.preferences.enterSends = checked
    }
    Text {
        width: parent.width
        text: qsTr("glmchat %1").arg(root.preferences.appVersion)
        textFormat: Text.PlainText
        color: Theme.muted
        font.family: Theme.sansFamily
        font.pixelSize: Theme.captionSize
    }
}
