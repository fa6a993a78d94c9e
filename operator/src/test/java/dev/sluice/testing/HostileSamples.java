package dev.sluice.testing;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.StreamWriteConstraints;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryType;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/** An honest object of each kind that the operator reads, to be changed by {@link Mutations}. */
public final class HostileSamples {

  private static final ObjectMapper YAML = new ObjectMapper(new YAMLFactory());

  private static final ObjectMapper DEEP =
      new ObjectMapper(
          JsonFactory.builder()
              .enable(JsonWriteFeature.ESCAPE_NON_ASCII) // half of a pair of surrogates stays that
              .streamWriteConstraints(
                  StreamWriteConstraints.builder().maxNestingDepth(100_000).build())
              .build());

  private HostileSamples() {}

  /** The objects by kind, in a fixed order. */
  public static Map<String, ObjectNode> byKind() {
    Map<String, ObjectNode> samples = new LinkedHashMap<>();
    try (InputStream file = HostileSamples.class.getResourceAsStream("hostile-samples.yaml")) {
      YAML.readerFor(ObjectNode.class)
          .<ObjectNode>readValues(Objects.requireNonNull(file))
          .forEachRemaining(sample -> samples.put(sample.path("kind").asText(), sample));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    return samples;
  }

  /** The JSON text, however deep it is. */
  public static String text(JsonNode object) {
    try {
      return DEEP.writeValueAsString(object);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The most bytes of the heap that were in use at a time, garbage included. */
  public static long peakOfHeap() {
    return ManagementFactory.getMemoryPoolMXBeans().stream()
        .filter(pool -> pool.getType() == MemoryType.HEAP)
        .mapToLong(pool -> pool.getPeakUsage().getUsed())
        .sum();
  }

  /** Where in our code something was thrown, for counting. */
  public static String place(Throwable e) {
    for (StackTraceElement frame : e.getStackTrace()) {
      if (frame.getClassName().startsWith("dev.sluice.")) {
        return e.getClass().getSimpleName() + " at " + frame;
      }
    }
    return e.toString();
  }
}
