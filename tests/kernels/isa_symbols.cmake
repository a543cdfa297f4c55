# Code compiled for AVX2 or AVX-512 must not be linked into a program that runs without them. An inline function of a shared
# header that such an object holds a copy of could be: the linker keeps one copy of each. So all that those objects may
# export is made of their own Simd type, or is the one function that hands out the table.
# usage: cmake -D NM=… -D OBJECTS=a.o:b.o:… -P isa_symbols.cmake
string(REPLACE ":" ";" OBJECTS "${OBJECTS}")
list(FILTER OBJECTS INCLUDE REGEX "inner_kernels_avx")
foreach(object IN LISTS OBJECTS)
    execute_process(COMMAND ${NM} --defined-only --extern-only ${object} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
    string(REPLACE "\n" ";" symbols "${symbols}")
    list(FILTER symbols EXCLUDE REGEX "Simd|_kernelsEv$|^$")
    if(symbols)
        message(FATAL_ERROR "${object} exports what other objects may also hold: ${symbols}")
    endif()
endforeach()
