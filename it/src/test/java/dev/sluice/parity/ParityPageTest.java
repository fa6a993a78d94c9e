package dev.sluice.parity;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.config.FeatureGate;
import dev.sluice.metrics.MetricsPage;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** docs/parity.md explains each gate, field, metric and reason; nothing is missing from it. */
class ParityPageTest {

  private static final Pattern SERIES =
      Pattern.compile("\"((?:kueue|multikueue|sluice)_[a-z_]+)\"");

  /** What has tests; other sources of tests may list gates without trying them. */
  private static final Pattern TEST = Pattern.compile("(?:Test|IT)\\.java$");

  @Test
  void thePageIsWhatTheCodeSays() throws IOException {
    String page = ParityPage.text();
    if (Boolean.getBoolean("sluice.docs.write")) {
      Files.writeString(ParityPage.PAGE, page);
    }
    assertThat(Files.readString(ParityPage.PAGE)).isEqualTo(page);
  }

  /** A gate that changes nothing is one that no code reads, and the page says so. */
  @ParameterizedTest
  @EnumSource(FeatureGate.class)
  void aGateDoesWhatItsRowSays(FeatureGate gate) {
    String text = ParityPage.gates().getOrDefault(gate, "");
    assertThat(text).as("row of " + gate.text() + " in gates.txt").isNotEmpty();
    boolean read =
        ParityFiles.sources().entrySet().stream()
            .filter(source -> !source.getKey().equals("api/config/FeatureGate.java"))
            .anyMatch(
                source ->
                    Pattern.compile("FeatureGate\\." + gate.name() + "\\b")
                        .matcher(source.getValue())
                        .find());

    assertThat(text.startsWith(ParityPage.MISSING)).as("missing").isEqualTo(!gate.works(true));
    if (gate.works(true) && gate.works(false)) {
      assertThat(text.startsWith(ParityPage.NO_EFFECT)).as("no effect").isEqualTo(!read);
    }
    assertThat(text.contains("can't be switched off"))
        .as("can't be switched off")
        .isEqualTo(!gate.works(false) && !gate.locked());
  }

  /** What a gate changes is tried by a test that names it. */
  @Test
  void eachGateWithAnEffectHasATest() {
    assertThat(untried(ParityFiles.tests())).as("gates that no test names").isEmpty();
    Map<String, String> planted = new HashMap<>(ParityFiles.tests());
    planted.replaceAll(
        (file, text) -> text.replace("TASPartialSlices", "").replace("TAS_PARTIAL_SLICES", ""));
    assertThat(untried(planted)).containsExactly(FeatureGate.TAS_PARTIAL_SLICES);
  }

  private static List<FeatureGate> untried(Map<String, String> tests) {
    return Arrays.stream(FeatureGate.values())
        .filter(gate -> !hasNoEffect(ParityPage.gates().getOrDefault(gate, "")))
        .filter(
            gate -> {
              Pattern name = Pattern.compile("\\b(?:" + gate.text() + "|" + gate.name() + ")\\b");
              return tests.entrySet().stream()
                  .filter(test -> TEST.matcher(test.getKey()).find())
                  .noneMatch(test -> name.matcher(test.getValue()).find());
            })
        .toList();
  }

  private static boolean hasNoEffect(String row) {
    return row.startsWith(ParityPage.NO_EFFECT) || row.startsWith(ParityPage.MISSING);
  }

  @Test
  void theRowsOfGatesAreInTheirOrder() {
    assertThat(ParityPage.gates().keySet()).containsExactly(FeatureGate.values());
  }

  /** A field is used, or its row says why it isn't; and no row says so of a field that is used. */
  @Test
  void noFieldIsUnexplained() {
    List<ParityPage.Field> fields = ParityPage.fields();

    assertThat(fields)
        .filteredOn(field -> field.rooms().isEmpty() && field.note().isEmpty())
        .as("neither used nor explained in field-notes.txt")
        .isEmpty();
    assertThat(fields)
        .filteredOn(field -> !field.old() && !field.rooms().isEmpty())
        .extracting(ParityPage.Field::note)
        .as("notes of fields that are used")
        .noneMatch(
            note ->
                note.startsWith(ParityPage.WITHOUT_EFFECT)
                    || note.startsWith(ParityPage.NOT_SERVED)
                    || note.startsWith("converted"));
    for (ParityPage.Field field : fields) {
      if (!field.old()) {
        boolean served = FieldUses.stored(field.kind()).contains(field.path());
        assertThat(field.note().startsWith(ParityPage.NOT_SERVED))
            .as("%s", field)
            .isEqualTo(!served);
      } else if (!field.note().startsWith(ParityPage.NOT_SERVED)) {
        assertThat(FieldUses.schema(field.kind(), "v1beta1")).contains(field.path());
      }
    }
    assertThat(ParityPage.notes().keySet())
        .allSatisfy(
            note ->
                assertThat(fields)
                    .as("fields of the note on " + note)
                    .anyMatch(field -> ParityPage.covers(note, field.kind() + " " + field.path())));
  }

  @Test
  void everyMetricIsOnAPage() throws IOException {
    Set<String> documented = MetricsPage.read().names();

    assertThat(documented).containsAll(ParityPage.metrics().keySet());
    assertThat(documented)
        .filteredOn(name -> name.startsWith("kueue_") || name.startsWith("multikueue_"))
        .filteredOn(name -> !ParityPage.metrics().containsKey(name))
        .as("metrics with the API's prefix that the API doesn't have")
        .containsExactlyInAnyOrder(
            "kueue_admission_duration_seconds",
            "kueue_cluster_queue_usage",
            "multikueue_admission_latency_seconds",
            "multikueue_cluster_connected",
            "multikueue_cluster_cut_offs_total",
            "multikueue_unreadable_objects_total",
            "multikueue_workloads_fenced_total",
            "multikueue_workloads_requeued_total");
    Set<String> registered = new TreeSet<>();
    ParityFiles.sources()
        .forEach(
            (file, text) -> {
              Matcher series = SERIES.matcher(text);
              while (ParityFiles.room(file).equals("metrics") && series.find()) {
                if (!series.group(1).endsWith("_")) {
                  registered.add(series.group(1));
                }
              }
            });
    assertThat(registered).isNotEmpty().isSubsetOf(documented);
  }

  /** Each reason of the API is in the sources, or its row says why it isn't. */
  @Test
  void everyReasonIsGivenOrExplained() {
    Map<String, SortedSet<String>> words = CodeWords.rooms();
    Set<String> absent = ParityPage.absent().keySet();
    Set<String> known =
        ParityPage.reasons().stream().map(ParityPage.Reason::reason).collect(Collectors.toSet());

    assertThat(ParityPage.reasons())
        .filteredOn(
            reason ->
                !absent.contains(reason.reason())
                    && !ParityPage.built().contains(reason.reason())
                    && !words.containsKey(reason.reason()))
        .as("reasons of the API that the code doesn't have")
        .isEmpty();
    assertThat(known).containsAll(absent).containsAll(ParityPage.built());
  }

  /** A word that looks like a reason is one of the API, one of ours, or listed as none. */
  @Test
  void noReasonIsUnexplained() {
    Set<String> known = new TreeSet<>(ParityPage.ownReasons().keySet());
    ParityPage.reasons().forEach(it -> known.addAll(List.of(it.reason(), it.condition())));
    known.addAll(
        Arrays.asList(ParityFiles.texts("own-reasons.txt").getOrDefault("-", "").split(" ")));

    assertThat(CodeWords.writers().keySet())
        .as("add a reason with its meaning to own-reasons.txt, another word to its last line")
        .isSubsetOf(known);
    assertThat(ParityPage.ownReasons().keySet()).isSubsetOf(CodeWords.writers().keySet());
  }
}
