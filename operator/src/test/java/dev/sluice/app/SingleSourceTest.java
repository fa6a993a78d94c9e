package dev.sluice.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The version is that of {@code pom.xml}, and the Java options are those of one file. */
class SingleSourceTest {

  private static final String OPTIONS = "operator/src/main/resources/dev/sluice/app/jvm.options";

  @Test
  void theOptionsAreRead() throws IOException {
    assertThat(JvmOptions.all())
        .isNotEmpty()
        .allSatisfy(option -> assertThat(option).startsWith("-").doesNotContain(" "));
    assertThat(Files.readString(Path.of(OPTIONS)).lines()).containsAll(JvmOptions.all());
  }

  @ParameterizedTest
  @ValueSource(strings = {"sluice", "Containerfile"})
  void whatStartsTheOperatorNamesTheFileAndRepeatsNoOption(String starter) throws IOException {
    String text = Files.readString(Path.of(starter));

    assertThat(text).contains(OPTIONS, "jvm.options\"");
    assertThat(text).doesNotContain(JvmOptions.all());
  }

  @Test
  void testsRunWithTheOptions() throws IOException {
    assertThat(Files.readString(Path.of("pom.xml")))
        .contains("<jvm.test.args>\"@${maven.multiModuleProjectDirectory}/" + OPTIONS + "\" ");
  }

  @Test
  void theChartHasTheVersionOfTheProject() throws IOException {
    assertThat(Files.readString(Path.of("helm/sluice/Chart.yaml")).lines())
        .contains("version: " + release(), "appVersion: " + release());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Containerfile",
        "docs/install.md",
        "operator/src/main/resources/dev/sluice/install/base.yaml"
      })
  void imagesAreTaggedWithTheVersionOfTheProject(String file) throws IOException {
    Matcher tag =
        Pattern.compile("\\bsluice:([0-9][0-9a-zA-Z.-]*)").matcher(Files.readString(Path.of(file)));
    List<String> tags = tag.results().map(found -> found.group(1)).distinct().toList();

    assertThat(tags).containsExactly(release());
  }

  /** The version of the project, without the qualifier of what is not released. */
  private static String release() throws IOException {
    Matcher version =
        Pattern.compile("<artifactId>sluice</artifactId>\\s*<version>([^<]+)</version>")
            .matcher(Files.readString(Path.of("pom.xml")));
    assertThat(version.find()).isTrue();
    return version.group(1).replace("-SNAPSHOT", "");
  }
}
