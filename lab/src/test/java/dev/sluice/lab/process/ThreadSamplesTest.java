package dev.sluice.lab.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import jdk.jfr.consumer.RecordingStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import sun.misc.Signal;

/** Profiles of a process that handles SIGUSR2, as the operator does. */
@EnabledOnOs(OS.LINUX)
class ThreadSamplesTest {

  /** A program that ends when a profile of it has samples of its thread. */
  static final class Program {

    private Program() {}

    /** Prints how many requests for a dump there were until then. */
    public static void main(String[] arguments) {
      AtomicLong requested = new AtomicLong();
      AtomicLong samples = new AtomicLong();
      Signal.handle(new Signal("USR2"), signal -> requested.incrementAndGet());
      try (RecordingStream profile = new RecordingStream()) {
        profile.enable("jdk.ExecutionSample").withPeriod(Duration.ofMillis(10));
        profile.onEvent("jdk.ExecutionSample", sample -> samples.incrementAndGet());
        profile.startAsync();
        long sum = 0;
        while (samples.get() < 5 && requested.get() < 50) {
          for (int i = 0; i < 1_000_000; i++) {
            sum += i ^ sum;
          }
        }
        System.out.println(requested.get() + (sum == 1 ? " " : ""));
      }
    }
  }

  private static String requestsUntilSampled(Map<String, String> environment) throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Program.class.getName()));
    builder.environment().remove("_JAVA_SR_SIGNUM");
    builder.environment().putAll(environment);
    Process process = builder.redirectError(ProcessBuilder.Redirect.DISCARD).start();
    return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
  }

  @Test
  void theProfilerSeesThreadsAndAsksForNoDump() throws Exception {
    assertThat(requestsUntilSampled(OperatorProcess.environment(Map.of()))).isEqualTo("0");
    assertThat(Integer.parseInt(requestsUntilSampled(Map.of())))
        .as("without that")
        .isGreaterThanOrEqualTo(50);
  }
}
