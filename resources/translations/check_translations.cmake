# cmake -D LUPDATE=… -D SOURCE_DIR=… -D WORK_DIR=… -P check_translations.cmake
# Brings copies of the .ts files up to date and looks for texts without a finished translation.
file(GLOB translations ${SOURCE_DIR}/resources/translations/*.ts)
foreach(translation IN LISTS translations)
    get_filename_component(name ${translation} NAME)
    set(copy ${WORK_DIR}/updated_${name})
    configure_file(${translation} ${copy} COPYONLY)
    execute_process(
        COMMAND ${LUPDATE} -silent -locations none -no-obsolete -I ${SOURCE_DIR} ${SOURCE_DIR}/app ${SOURCE_DIR}/ui -ts ${copy}
        COMMAND_ERROR_IS_FATAL ANY)
    file(READ ${copy} text)
    string(REGEX MATCHALL "<source>[^<]*</source>[^/]*<translation type=\"unfinished\"" unfinished "${text}")
    list(LENGTH unfinished num_unfinished)
    if(num_unfinished GREATER 0)
        string(REGEX REPLACE "</source>[^;]*" "" texts "${unfinished}")
        string(REPLACE "<source>" "\n  " texts "${texts}")
        message(FATAL_ERROR "${name}: ${num_unfinished} texts are not translated:${texts}\n"
                            "Build the target update_translations and translate them.")
    endif()
endforeach()
