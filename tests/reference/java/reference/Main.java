package reference;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Runs trials as they are asked for on standard input, a JSON object a line, until that ends; answers a JSON object a line.
 *
 * <p>{"id": 1, "program": "Topics", "trial": "create", "servers": HOST:PORT, "source": HOST:PORT of the real broker, "prefix": of all names}
 */
public final class Main {
    private static final int PATIENCE_S = 180;
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final List<Class<? extends Program>> PROGRAMS = List.of(Topics.class, Settings.class, Groups.class, Producers.class, ClassicConsumers.class, ConsumerProtocol.class, Transactions.class, ShareGroups.class, Cluster.class, Tools.class, Streams.class, Mirror.class, Spring.class);

    private static final List<Process> STARTED = new CopyOnWriteArrayList<>();

    /** Ends a process with this one. */
    static void ends(Process started) {
        STARTED.add(started);
    }

    /** The argument is how many trials run at the same time. */
    public static void main(String[] arguments) throws Exception {
        PrintStream out = System.out;
        Output.divide();
        out.println(JSON.writeValueAsString(Map.of("programs", trials())));
        ExecutorService workers = Executors.newFixedThreadPool(Integer.parseInt(arguments[0]), Main::daemon);
        ExecutorService trials = Executors.newCachedThreadPool(Main::daemon);
        var lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            JsonNode asked = JSON.readTree(line);
            workers.execute(() -> {
                Map<String, Object> told = run(trials, asked);
                synchronized (out) {
                    out.println(JSON.valueToTree(told).toString());
                    out.flush();
                }
            });
        }
        STARTED.forEach(Process::destroyForcibly);
        Runtime.getRuntime().halt(0); // whatever still runs is of no use to anybody
    }

    private static Map<String, List<String>> trials() {
        Map<String, List<String>> found = new LinkedHashMap<>();
        for (var program : PROGRAMS)
            found.put(program.getSimpleName(), Arrays.stream(program.getMethods()).filter(m -> m.isAnnotationPresent(Trial.class)).map(m -> m.getName()).sorted().toList());
        return found;
    }

    /** What the trial has told, whatever becomes of it. */
    private static Map<String, Object> run(ExecutorService trials, JsonNode asked) {
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("id", asked.get("id").asInt());
        long begun = System.nanoTime();
        Map<String, Program.Seen> seen = Map.of();
        try {
            var type = PROGRAMS.stream().filter(p -> p.getSimpleName().equals(asked.get("program").asText())).findFirst().orElseThrow();
            var method = type.getMethod(asked.get("trial").asText());
            Program program = type.getDeclaredConstructor().newInstance();
            program.begin(asked.get("servers").asText(), asked.get("source").asText(), asked.get("prefix").asText());
            var trial = trials.submit(() -> {
                try {
                    method.invoke(program);
                    return null;
                } catch (InvocationTargetException error) {
                    return Program.causeOf(error.getCause());
                } finally {
                    program.end();
                }
            });
            try {
                Throwable failed = trial.get(PATIENCE_S, TimeUnit.SECONDS);
                if (failed != null) told.put("failed", failed.getClass().getSimpleName() + ": " + program.plain(failed.getMessage()));
            } catch (TimeoutException slow) {
                trial.cancel(true);
                told.put("failed", "did not end in " + PATIENCE_S + " s");
            }
            seen = program.seen();
        } catch (Throwable error) {
            told.put("failed", String.valueOf(error));
        }
        told.put("seen", seen);
        told.put("seconds", (System.nanoTime() - begun) / 1e9);
        return told;
    }

    private static Thread daemon(Runnable task) {
        var thread = new Thread(task);
        thread.setDaemon(true);
        return thread;
    }
}
