package dev.sluice.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.endtoend.TaskPage.Command;
import dev.sluice.endtoend.TaskPage.SavedFile;
import dev.sluice.endtoend.TaskPage.Step;
import dev.sluice.endtoend.Terminal.Result;
import dev.sluice.testing.AdditionalControlPlane;
import dev.sluice.testing.BuildBreadth;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.opentest4j.TestAbortedException;

/**
 * The pages of docs/tasks do what they say: everything that they let a reader save and type is
 * saved and typed, in one shell, and what comes out is what they show. The control planes are those
 * that the pages start, and the operators listen on the ports that are usual, as on a reader's
 * machine.
 */
@ResourceLock(AdditionalControlPlane.PLACE_A)
@Tag(BuildBreadth.NIGHTLY)
class TaskPagesIT {

  private static final Path PAGES = Path.of("docs", "tasks");
  private static final String FIRST_PAGE = "README.md";
  private static final String PUT_AWAY = "\n## Put away\n";
  private static final Pattern LINK = Pattern.compile("^\\d\\. \\[[^]]+]\\(([\\w-]+\\.md)\\)$");
  private static final Duration LIMIT = Duration.ofMinutes(3);

  @TempDir private Path directory = Path.of("");

  @Test
  @Timeout(value = 20, unit = TimeUnit.MINUTES)
  void eachPageShowsWhatItsReaderSees() throws Exception {
    Stream.of("kubectl", "curl", "bash").forEach(TaskPagesIT::need);
    prepare();
    String first = Files.readString(PAGES.resolve(FIRST_PAGE));
    int end = first.indexOf(PUT_AWAY);
    List<String> faults = new ArrayList<>();
    try (Terminal terminal =
        new Terminal(
            directory,
            Map.of("XDG_STATE_HOME", directory.resolve("state").toString(), "KUBECONFIG", ""))) {
      try {
        follow(terminal, FIRST_PAGE, TaskPage.steps(first.substring(0, end)));
        for (String page : pages(first)) {
          try {
            follow(terminal, page, TaskPage.steps(PAGES.resolve(page)));
          } catch (AssertionError | ConditionTimeoutException fault) {
            // The other pages are tried all the same; what this one left behind may disturb them.
            faults.add(String.valueOf(fault.getMessage()));
          }
        }
        follow(terminal, FIRST_PAGE, TaskPage.steps(first.substring(end)));
      } finally {
        for (String name : List.of("try", "worker")) {
          terminal.type("./sluice control-plane down --name " + name);
        }
      }
    }
    assertThat(faults).isEmpty();
  }

  /** The pages in the order in which the first one lists them, none left out. */
  private static List<String> pages(String first) throws IOException {
    List<String> listed =
        first
            .lines()
            .map(LINK::matcher)
            .filter(Matcher::matches)
            .map(line -> line.group(1))
            .toList();
    try (Stream<Path> files = Files.list(PAGES)) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .filteredOn(name -> !name.equals(FIRST_PAGE))
          .containsExactlyInAnyOrderElementsOf(listed);
    }
    return listed;
  }

  private void follow(Terminal terminal, String page, List<Step> steps) throws IOException {
    for (Step step : steps) {
      switch (step) {
        case SavedFile file -> Files.writeString(directory.resolve(file.name()), file.text());
        case Command command when command.reads() ->
            await(page + ": " + command.text())
                .atMost(LIMIT)
                .pollInterval(Duration.ofMillis(500))
                .untilAsserted(() -> expect(page, command, terminal.type(command.text())));
        case Command command -> expect(page, command, terminal.type(command.text()));
      }
    }
  }

  private static void expect(String page, Command command, Result result) {
    assertThat(result.code() == 0 && command.shows(result.text()))
        .as(
            "%s: $ %s%nshown by the page:%n%s%ncame out, with exit code %d:%n%s",
            page, command.text(), command.shown(), result.code(), result.text())
        .isTrue();
  }

  /** What a checkout has, as far as the pages use it; the program is that of this test. */
  private void prepare() throws IOException {
    Path root = Path.of("").toAbsolutePath();
    for (String used : List.of("deploy", "kubectl-sluice")) {
      Files.createSymbolicLink(directory.resolve(used), root.resolve(used));
    }
    Path program = directory.resolve("sluice");
    Files.writeString(
        program,
        """
        #!/bin/sh
        _JAVA_SR_SIGNUM=41 exec '%s' '@%s' -XX:TieredStopAtLevel=1 -Dsluice.warm-up.rounds=1 \\
          '-Dsluice.home=%s' -cp '%s' dev.sluice.lab.LabMain "$@"
        """
            .formatted(
                Path.of(System.getProperty("java.home"), "bin", "java"),
                root.resolve("operator/src/main/resources/dev/sluice/app/jvm.options"),
                root,
                absolute(System.getProperty("java.class.path"), root)));
    assertThat(program.toFile().setExecutable(true)).isTrue();
  }

  private static String absolute(String classPath, Path root) {
    return Stream.of(classPath.split(File.pathSeparator))
        .map(entry -> root.resolve(entry).toString())
        .reduce((one, other) -> one + File.pathSeparator + other)
        .orElseThrow();
  }

  private static void need(String program) {
    boolean found =
        Stream.of(System.getenv().getOrDefault("PATH", "").split(":"))
            .anyMatch(place -> Files.isExecutable(Path.of(place, program)));
    if (!found) {
      throw new TestAbortedException("the pages are not tried: no " + program + " on the PATH");
    }
  }
}
