package dev.sluice.lab.player;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonFields;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * The manifest of one kind of job in {@code docs/manifests}, and variants of it. Its objects are
 * never changed.
 *
 * @param name the name of the file, without its ending
 * @param objects its objects, in order
 */
public record KindManifest(String name, List<ObjectNode> objects) {

  private static final String RUN_FOR = "sluice.dev/run-for";
  private static final String EXIT_CODE = "sluice.dev/exit-code";
  private static final String ENDING = ".yaml";
  private static final ObjectMapper YAML = new ObjectMapper(new YAMLFactory());

  /** Copies the list. */
  public KindManifest {
    objects = List.copyOf(objects);
  }

  /** Reads all manifests of the checkout, by name. */
  public static List<KindManifest> all() {
    Path directory = Path.of(System.getProperty("sluice.home", ""), "docs", "manifests");
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .filter(file -> file.toString().endsWith(ENDING))
          .sorted()
          .map(KindManifest::read)
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static KindManifest read(Path file) {
    try (MappingIterator<ObjectNode> documents =
        YAML.readerFor(ObjectNode.class).readValues(Files.readString(file))) {
      String name = file.getFileName().toString();
      return new KindManifest(
          name.substring(0, name.length() - ENDING.length()), documents.readAll());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The objects that name a queue: the job, or the pods of a group. */
  public List<ObjectNode> jobs() {
    return objects.stream()
        .filter(object -> JsonFields.labels(object).containsKey(KueueConstants.QUEUE_NAME))
        .toList();
  }

  /** Whether pods of it end by themselves. */
  public boolean ends() {
    return objects.stream().anyMatch(object -> object.findValue(RUN_FOR) != null);
  }

  /** The same with pods that run for another time, where they end by themselves. */
  public KindManifest runningFor(String time) {
    return changed(object -> timed(object, map -> map.put(RUN_FOR, time)));
  }

  /** The same with pods that fail, where they end by themselves. */
  public KindManifest failing() {
    return changed(object -> timed(object, map -> map.put(EXIT_CODE, "1")));
  }

  /** The same in another queue. */
  public KindManifest inQueue(String queue) {
    KindManifest copy = changed(object -> {});
    copy.jobs()
        .forEach(
            job -> ((ObjectNode) job.at("/metadata/labels")).put(KueueConstants.QUEUE_NAME, queue));
    return copy;
  }

  /** A copy whose objects were changed. */
  public KindManifest changed(Consumer<ObjectNode> change) {
    List<ObjectNode> copies = objects.stream().map(ObjectNode::deepCopy).toList();
    copies.forEach(change);
    return new KindManifest(name, copies);
  }

  private static void timed(JsonNode node, Consumer<ObjectNode> change) {
    if (node instanceof ObjectNode map && map.has(RUN_FOR)) {
      change.accept(map);
    }
    node.forEach(child -> timed(child, change));
  }
}
