<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en" sourcelanguage="en">
<context>
    <name>StatusLine</name>
    <message numerus="yes">
        <source>%n oldest round(s) no longer sent</source>
        <translation>
            <numerusform>%n oldest round no longer sent</numerusform>
            <numerusform>%n oldest rounds no longer sent</numerusform>
        </translation>
    </message>
</context>
</TS>
