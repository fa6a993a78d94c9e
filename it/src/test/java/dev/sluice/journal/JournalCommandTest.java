package dev.sluice.journal;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.app.Main;
import dev.sluice.reference.ObservedWorlds;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** The commands {@code journal} and {@code replay}: what they print, and their exit codes. */
class JournalCommandTest {

  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  @TempDir private Path root = Path.of("");

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... args) {
    out.getBuffer().setLength(0);
    err.getBuffer().setLength(0);
    CommandLine line = Main.commandLine();
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    return line.execute(args);
  }

  private List<Path> record() throws IOException {
    try (SegmentListener listener =
        new SegmentListener(root, START, ObservedWorlds.options(1), 4000)) {
      int unused = ObservedWorlds.play(1, 600, listener);
    }
    JournalDirectory directory = new JournalDirectory(root, JournalRecord.types());
    return directory.segments(directory.sessions().getFirst());
  }

  private String directory() {
    return root.toString();
  }

  @Test
  void aJournalIsListedVerifiedAndReplayed() throws IOException {
    List<Path> segments = record();
    assertThat(run("journal", "ls", directory())).isZero();
    assertThat(out.toString())
        .contains("20260101T000000.000Z_pod-0")
        .contains(segments.getFirst().getFileName().toString())
        .contains(" bytes  from record 0  2026-01-01T00:00:00Z");
    assertThat(run("journal", "verify", directory())).isZero();
    assertThat(out.toString().lines())
        .hasSize(segments.size())
        .allMatch(it -> it.contains("records"));
    assertThat(run("replay", directory())).isZero();
    assertThat(out.toString()).contains("decisions the same").doesNotContain("not replayed");
  }

  @Test
  void damageIsTold() throws IOException {
    Path segment = record().getFirst();
    byte[] bytes = Files.readAllBytes(segment);
    bytes[bytes.length / 2] ^= 1;
    Files.write(segment, bytes);
    assertThat(run("journal", "verify", directory())).isEqualTo(1);
    assertThat(out.toString()).containsPattern(segment + " at \\d+: wrong ");
    assertThat(run("journal", "dump", directory())).isEqualTo(1);
    assertThat(err.toString()).containsPattern(segment + " at \\d+: wrong ");
    assertThat(run("replay", directory())).isZero();
    assertThat(out.toString()).contains("not replayed: " + segment + ": damaged at ");
  }

  @Test
  void recordsArePrinted() throws IOException {
    List<Path> unused = record();
    assertThat(run("journal", "dump", directory(), "--to", "2026-01-01T00:00:00Z")).isZero();
    List<String> lines = out.toString().lines().toList();
    assertThat(lines).anyMatch(it -> it.contains("Applied[event=TimePassed[now=2026-01-01"));
    assertThat(run("journal", "dump", directory(), "--output", "json")).isZero();
    List<String> all = out.toString().lines().toList();
    assertThat(all).hasSizeGreaterThan(lines.size());
    ObjectMapper json = new ObjectMapper();
    long decided = 0;
    for (String line : all) {
      JsonNode node = json.readTree(line);
      assertThat(node.path("sequence").isIntegralNumber()).isTrue();
      if (node.path("kind").textValue().equals("Decided")) {
        decided++;
        assertThat(node.path("decision").path("id").path("uid").textValue()).startsWith("uid-");
      }
    }
    assertThat(decided).isPositive();
  }

  @Test
  void anEmptyDirectoryHasNothingToReplay() {
    assertThat(run("replay", directory())).isEqualTo(1);
    assertThat(out.toString()).isEqualTo("0 events, 0 cycles, 0 decisions the same\n");
    assertThat(run("journal", "ls", directory())).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "journal,2,which of ls",
    "journal ls,2,DIR",
    "journal ls /no/such/directory,3,/no/such/directory is no directory",
    "journal verify /no/such/directory,3,is no directory",
    "journal dump /no/such/directory,3,is no directory",
    "replay /no/such/directory,3,is no directory",
    "replay,2,DIR",
    "journal dump / --from yesterday,2,\"\"\"yesterday\"\" is no time\"",
    "journal dump / --output xml,2,xml",
    "replay / --to 2026-01-01,2,\"\"\"2026-01-01\"\" is no time\"",
    "journal frob,2,frob"
  })
  void whatIsWrongIsSaid(String line, int code, String message) {
    assertThat(run(line.split(" ", -1))).isEqualTo(code);
    if (!message.startsWith("which")) {
      assertThat(err.toString()).contains(message.replace("\"\"", "\"").replaceAll("^\"|\"$", ""));
    }
  }
}
