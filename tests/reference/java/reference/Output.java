package reference;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** Standard streams that each trial has for itself: Kafka's tools print what they find. */
final class Output {
    private static final InheritableThreadLocal<ByteArrayOutputStream> PRINTED = new InheritableThreadLocal<>();
    private static final InheritableThreadLocal<InputStream> TYPED = new InheritableThreadLocal<>();
    private static final PrintStream ERRORS = System.err;

    private Output() {}

    static void divide() {
        var own = new PrintStream(new OutputStream() {
            @Override
            public void write(int one) {
                write(new byte[] {(byte) one}, 0, 1);
            }

            @Override
            public void write(byte[] bytes, int from, int length) {
                var printed = PRINTED.get();
                if (printed == null) ERRORS.write(bytes, from, length);
                else printed.write(bytes, from, length);
            }
        }, true);
        System.setOut(own);
        System.setErr(own);
    }

    /** What is read from standard input: the lines of this thread, or of nobody. */
    static InputStream typed() {
        return new InputStream() {
            @Override
            public int read() throws IOException {
                return TYPED.get() == null ? -1 : TYPED.get().read();
            }

            @Override
            public int read(byte[] bytes, int from, int length) throws IOException {
                return TYPED.get() == null ? -1 : TYPED.get().read(bytes, from, length);
            }
        };
    }

    interface Action {
        void run() throws Exception;
    }

    /** What `action` prints while it can read `typed`. */
    static String of(String typed, Action action) throws Exception {
        var printed = new ByteArrayOutputStream();
        PRINTED.set(printed);
        TYPED.set(new ByteArrayInputStream(typed.getBytes(StandardCharsets.UTF_8)));
        try {
            action.run();
        } finally {
            PRINTED.remove();
            TYPED.remove();
        }
        return printed.toString(StandardCharsets.UTF_8);
    }
}
