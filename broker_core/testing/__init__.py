"""The test kit: a broker for the tests of programs that use one."""
