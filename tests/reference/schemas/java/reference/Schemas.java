package reference;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.apicurio.registry.rules.compatibility.jsonschema.JsonSchemaDiffLibrary;
import io.apicurio.registry.rules.compatibility.protobuf.ProtobufCompatibilityCheckerLibrary;
import io.apicurio.registry.utils.protobuf.schema.ProtobufFile;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeSet;
import org.apache.avro.Schema;
import org.apache.avro.SchemaCompatibility;

/** Judges pairs of schemas: a JSON object with language, writer and reader a line, an answer a line. */
public final class Schemas {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  public static void main(String[] arguments) throws Exception {
    PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    System.setOut(System.err); // what libraries print is no answer
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      JsonNode pair = MAPPER.readTree(line);
      ObjectNode answer = MAPPER.createObjectNode();
      String writer = pair.get("writer").asText();
      String reader = pair.get("reader").asText();
      try {
        answer.put("answer", judged(pair.get("language").asText(), writer, reader));
      } catch (Exception | StackOverflowError error) {
        answer.put("answer", "invalid: " + error);
      }
      out.println(MAPPER.writeValueAsString(answer));
      if (!in.ready()) {
        out.flush();
      }
    }
    out.flush();
  }

  private static String judged(String language, String writer, String reader) throws Exception {
    TreeSet<String> reasons = new TreeSet<>();
    switch (language) {
      case "AVRO" -> {
        Schema written = new Schema.Parser().parse(writer);
        Schema read = new Schema.Parser().parse(reader);
        SchemaCompatibility.checkReaderWriterCompatibility(read, written).getResult().getIncompatibilities()
            .forEach(each -> reasons.add(each.getType() + " " + each.getLocation()));
      }
      case "JSON" ->
          JsonSchemaDiffLibrary.getIncompatibleDifferences(writer, reader, Map.of())
              .forEach(each -> reasons.add(each.getDiffType() + " " + each.getPathUpdated()));
      default ->
          new ProtobufCompatibilityCheckerLibrary(new ProtobufFile(writer), new ProtobufFile(reader))
              .findDifferences().forEach(each -> reasons.add(each.getMessage()));
    }
    return reasons.isEmpty() ? "compatible" : "not: " + String.join("; ", reasons);
  }
}
