package dev.sluice.webhooks.rules;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.testing.SourceTrees;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class UnknownSluiceKeysTest {

  private static final Pattern KEY = Pattern.compile("\"sluice\\.dev/([a-z][a-z-]+)\"");

  private static JsonNode with(String kind, String... keys) {
    ObjectNode object = new ObjectMapper().createObjectNode();
    for (String key : keys) {
      object.withObjectProperty("metadata").withObjectProperty(kind).put(key, "1h");
    }
    return object;
  }

  private static List<String> created(JsonNode object) {
    return UnknownSluiceKeys.warnings(object, MissingNode.getInstance());
  }

  @Test
  void namesAreThoseOfTheSources() throws IOException {
    Set<String> found = new TreeSet<>();
    for (Path source : SourceTrees.main()) {
      KEY.matcher(Files.readString(source)).results().forEach(key -> found.add(key.group(1)));
    }
    assertThat(found).hasSizeGreaterThan(50);
    assertThat(new TreeSet<>(UnknownSluiceKeys.NAMES)).isEqualTo(found);
  }

  @Test
  void aMistypedAnnotationIsWarnedOf() {
    assertThat(created(with("annotations", "sluice.dev/expected-runtime")))
        .containsExactly(
            "annotation sluice.dev/expected-runtime has no effect: there is none of this name;"
                + " did you mean sluice.dev/expected-run-time?");
    assertThat(created(with("labels", "sluice.dev/min_run_time")))
        .containsExactly(
            "label sluice.dev/min_run_time has no effect: there is none of this name; did you mean"
                + " sluice.dev/min-run-time?");
  }

  @Test
  void nothingSimilarIsProposedForAnotherWord() {
    assertThat(created(with("annotations", "sluice.dev/colour", "sluice.dev/" + "x".repeat(5000))))
        .hasSize(2)
        .allSatisfy(warning -> assertThat(warning).endsWith("there is none of this name"))
        .allSatisfy(warning -> assertThat(warning).hasSizeLessThan(200));
  }

  @Test
  void knownKeysAndThoseOfOthersAreNotWarnedOf() {
    assertThat(created(with("annotations", "sluice.dev/min-run-time", "example.com/min-runtime")))
        .isEmpty();
  }

  @Test
  void anUpdateIsWarnedOfWhatItAdds() {
    JsonNode before = with("annotations", "sluice.dev/colour");
    JsonNode now = with("annotations", "sluice.dev/colour", "sluice.dev/minimum-runtime");
    assertThat(UnknownSluiceKeys.warnings(now, before)).hasSize(1);
  }

  @Test
  void warningsAreFew() {
    String[] keys = new String[4000];
    for (int i = 0; i < keys.length; i++) {
      keys[i] = "sluice.dev/key-" + i;
    }
    assertThat(created(with("annotations", keys))).hasSize(5);
  }
}
