package dev.sluice.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.visibility.explain.ExplainCommand;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import org.awaitility.Awaitility;
import picocli.CommandLine;

/** What {@code explain job} prints, asked of an operator that isn't reached by a Service. */
public final class JobExplanation {

  private static final Duration LIMIT = Duration.ofMinutes(5);

  private final TestCluster cluster;
  private final int visibilityPort;
  private final Path directory;

  /**
   * @param directory where the operator's authority is written to
   */
  public JobExplanation(TestCluster cluster, int visibilityPort, Path directory) {
    this.cluster = cluster;
    this.visibilityPort = visibilityPort;
    this.directory = directory;
  }

  /** Waits until the explanation of a job of the test's namespace contains each of the parts. */
  public void await(String job, String... parts) {
    Awaitility.await("explanation of " + job)
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(of(job)).contains(parts));
  }

  /** The explanation of a job of the test's namespace; the command has to succeed. */
  public String of(String job) {
    StringWriter out = new StringWriter();
    int code =
        new CommandLine(new ExplainCommand())
            .setOut(new PrintWriter(out))
            .setErr(new PrintWriter(out))
            .execute(
                "job",
                job,
                "-n",
                cluster.namespace(),
                "--kubeconfig",
                cluster.kubeconfig().toString(),
                "--operator",
                "https://127.0.0.1:" + visibilityPort,
                "--operator-ca",
                authority().toString());
    assertThat(code).as(out::toString).isZero();
    return out.toString();
  }

  private Path authority() {
    String authority =
        cluster
            .client()
            .secrets()
            .inNamespace("kueue-system")
            .withName("kueue-webhook-server-cert")
            .require()
            .getData()
            .getOrDefault("ca.crt", "");
    try {
      return Files.write(directory.resolve("ca.crt"), Base64.getDecoder().decode(authority));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
