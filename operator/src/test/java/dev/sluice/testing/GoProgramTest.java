package dev.sluice.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A program that many tests need is built by one of them. */
class GoProgramTest {

  @Test
  void whoAsksWhileItIsBuiltWaitsForIt(@TempDir Path directory) throws Exception {
    Path runs = directory.resolve("runs");
    Path go = compiler(directory.resolve("go"), runs);
    Path program = directory.resolve("cache").resolve("tool");
    GoProgram tool =
        new GoProgram(
            "tool", "NO_SUCH_VARIABLE", directory, "example.org/tool", "./tool", List.of());
    int askers = 8;
    CountDownLatch start = new CountDownLatch(askers);
    Callable<Boolean> ask =
        () -> {
          start.countDown();
          start.await();
          tool.buildOnce(go, program);
          return Files.isExecutable(program);
        };
    List<Boolean> found = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(askers)) {
      for (Future<Boolean> answer : threads.invokeAll(Collections.nCopies(askers, ask))) {
        found.add(answer.get());
      }
    }

    assertThat(found).hasSize(askers).containsOnly(true);
    assertThat(Files.readAllLines(runs)).hasSize(1);
  }

  /** A program that is called as {@code go build} is, and notes each of its runs. */
  private static Path compiler(Path file, Path runs) throws Exception {
    Files.writeString(
        file,
        """
        #!/bin/sh
        echo run >> %s
        while [ "$1" != -o ]; do shift; done
        chmod +x "$2"
        """
            .formatted(runs));
    assertThat(file.toFile().setExecutable(true)).isTrue();
    return file;
  }
}
