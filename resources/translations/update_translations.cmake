# cmake -D LUPDATE=… -D SOURCE_DIR=… -D FOLDER=… [-D CHECK=ON] -P update_translations.cmake
# Brings the .ts files in FOLDER up to date with the source texts. CHECK: works on copies of the real files and fails when
# a text in them has no finished translation.
if(CHECK)
    file(REMOVE_RECURSE ${FOLDER})
    file(COPY ${SOURCE_DIR}/resources/translations/ DESTINATION ${FOLDER} FILES_MATCHING PATTERN "*.ts")
endif()

file(GLOB translations ${FOLDER}/*.ts)
foreach(translation IN LISTS translations)
    get_filename_component(name ${translation} NAME)
    set(options -silent -locations none -no-obsolete -I ${SOURCE_DIR})
    if(name MATCHES "_en.ts$")
        list(APPEND options -pluralonly)
    endif()
    execute_process(
        COMMAND ${LUPDATE} ${options} ${SOURCE_DIR}/app ${SOURCE_DIR}/ui -ts ${translation}
        COMMAND_ERROR_IS_FATAL ANY)
    file(READ ${translation} text)
    if(CHECK AND text MATCHES "type=\"unfinished\"")
        string(REPLACE ";" "," text "${text}")
        string(REGEX MATCHALL "<source>[^<]*</source>[ \n]*<translation type=\"unfinished\"" unfinished "${text}")
        string(REGEX REPLACE "<source>([^<]*)</source>[ \n]*<translation type=\"unfinished\"" "\n  \\1" texts "${unfinished}")
        message(FATAL_ERROR "${name}: not translated:${texts}\nBuild the target update_translations and translate them.")
    endif()
endforeach()
