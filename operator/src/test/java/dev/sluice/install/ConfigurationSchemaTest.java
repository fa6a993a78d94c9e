package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The schema of the configuration has the fields that docs/configuration.md tells of. */
class ConfigurationSchemaTest {

  private static final Pattern FIELD = Pattern.compile("`([a-z][A-Za-z]*[A-Za-z.\\[\\]]*)`");

  @Test
  void everyFieldOfTheDocumentationIsInIt() throws Exception {
    ObjectNode schema = ConfigurationSchema.whole();
    List<String> told = new ArrayList<>();
    String text = Files.readString(Path.of("docs/configuration.md"));
    String table = text.substring(text.indexOf("| field |"));
    table
        .substring(0, table.indexOf("\n\n"))
        .lines()
        .skip(2)
        .forEach(
            row -> {
              Matcher field = FIELD.matcher(row.substring(0, row.indexOf(" | ")));
              while (field.find()) {
                told.add(field.group(1));
              }
            });

    assertThat(told)
        .hasSizeGreaterThan(80)
        .allSatisfy(field -> assertThat(schema.at(pointer(field)).isMissingNode()).isFalse());
    assertThat(schema.at(pointer("waitForPodsReady.enable")).isMissingNode()).isTrue();
  }

  private static String pointer(String field) {
    return ("." + field).replace("[]", "/items").replace(".", "/properties/");
  }
}
