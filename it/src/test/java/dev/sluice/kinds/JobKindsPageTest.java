package dev.sluice.kinds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.config.JobFrameworks;
import dev.sluice.jobs.kind.JobKindDescription;
import dev.sluice.jobs.kinds.BuiltInIntegrations;
import dev.sluice.lab.player.KindManifest;
import dev.sluice.lab.player.PlayedKinds;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every kind has a manifest, a player and its row in docs/job-kinds.md. */
class JobKindsPageTest {
  /** The column of lines: a change of one line is no reason to write the page again. */
  private static final Pattern LINES = Pattern.compile("\\| (\\d+) \\((\\d+)\\) \\|");

  static List<KindManifest> manifests() {
    return KindManifest.all();
  }

  private static List<String> kinds(boolean builtIn) {
    return BuiltInIntegrations.descriptions().stream()
        .map(JobKindDescription::kind)
        .filter(kind -> JobFrameworks.integrated().contains(kind.framework()))
        .filter(kind -> kind.isBuiltIn() == builtIn)
        .map(kind -> kind.kind())
        .toList();
  }

  @Test
  void thePageSaysWhatTheSuiteShows() throws IOException {
    String page = JobKindsPage.text(KindRow.all());
    if (Boolean.getBoolean("sluice.docs.write")) {
      Files.writeString(JobKindsPage.PAGE, page);
    }
    String written = Files.readString(JobKindsPage.PAGE);
    assertThat(LINES.matcher(written).replaceAll("|"))
        .isEqualTo(LINES.matcher(page).replaceAll("|"));
    assertThat(lines(written)).zipSatisfy(lines(page), JobKindsPageTest::isWithinATenth);
  }

  private static List<Double> lines(String page) {
    return LINES
        .matcher(page)
        .results()
        .flatMap(cell -> Stream.of(cell.group(1), cell.group(2)))
        .map(Double::valueOf)
        .toList();
  }

  private static void isWithinATenth(double written, double counted) {
    assertThat(written).isCloseTo(counted, withinPercentage(10));
  }

  @Test
  void aKindIsDescribedInFewLines() {
    assertThat(KindRow.all())
        .filteredOn(row -> CodeLines.of(row.description().getClass()) > JobKindsPage.LONGEST)
        .extracting(KindRow::name)
        .as("kinds with long descriptions; the page says why")
        .containsExactlyInAnyOrderElementsOf(JobKindsPage.LONGER.keySet());
  }

  @Test
  void commentsAndBlankLinesAreNotCounted() {
    assertThat(
            CodeLines.count(
                List.of(
                    "/** One", " * two. */", "int a = 2", "    * 3; // six", "", "  // none", "}")))
        .isEqualTo(3);
  }

  @Test
  void theSuiteTurnsAllKindsOn() {
    assertThat(JobFrameworks.integrated()).allMatch(EveryKindIT.FRAMEWORKS::contains);
  }

  @Test
  void everyIntegratedKindHasAManifestAndAPlayer() {
    List<String> shown =
        KindRow.all().stream().map(row -> row.description().kind().kind()).distinct().toList();
    assertThat(shown)
        .containsAll(kinds(true))
        .containsAll(kinds(false))
        .hasSameSizeAs(JobFrameworks.integrated());
    assertThat(PlayedKinds.all().stream().map(played -> played.kind().kind()))
        .containsExactlyInAnyOrderElementsOf(kinds(false));
  }

  /** A user finds the same queue, name and size everywhere, and the pods end soon. */
  @ParameterizedTest
  @MethodSource("manifests")
  void aManifestIsSmallAndNamedAfterItsKind(KindManifest manifest) {
    assertThat(manifest.jobs())
        .isNotEmpty()
        .allSatisfy(
            job -> {
              assertThat(job.path("metadata").has("namespace")).isFalse();
              assertThat(job.at("/metadata/labels/kueue.x-k8s.io~1queue-name").asText())
                  .isEqualTo("team-a");
              assertThat(job.at("/metadata/name").asText()).startsWith(manifest.name() + "-sample");
            });
    List<JsonNode> images =
        manifest.objects().stream().flatMap(it -> it.findValues("image").stream()).toList();
    assertThat(images)
        .isNotEmpty()
        .allSatisfy(image -> assertThat(image.asText()).isEqualTo("busybox:1.37"));
  }
}
