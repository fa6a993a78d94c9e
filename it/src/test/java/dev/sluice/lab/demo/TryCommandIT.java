package dev.sluice.lab.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.app.Main;
import dev.sluice.lab.controlplane.ApiClients;
import dev.sluice.testing.BuildBreadth;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** The first minutes of somebody without a cluster: the printed addresses and commands work. */
@Tag(BuildBreadth.NIGHTLY)
class TryCommandIT {

  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final String SECONDS = "45";

  @Test
  void jobsOfTwoTeamsRunAndWaitUntilTheTimeIsOver() throws Exception {
    StringWriter out = new StringWriter();
    CompletableFuture<Integer> ended =
        CompletableFuture.supplyAsync(
            () ->
                new CommandLine(new TryCommand())
                    .setOut(new PrintWriter(out))
                    .execute("--for", SECONDS));
    await("the address of the dashboard")
        .atMost(LIMIT)
        .until(() -> ended.isDone() || out.toString().contains("Ctrl-C takes all of it away."));
    String told = out.toString();
    Path kubeconfig = Path.of(found("export KUBECONFIG=(\\S+)", told));
    assertThat(connects(Integer.parseInt(found("https://127.0.0.1:(\\d+)/", told)))).isTrue();
    assertThat(found("token:\\s+(\\S+)", told)).contains(".");
    try (KubernetesClient client = ApiClients.patient(kubeconfig)) {
      for (String team : new String[] {"blue", "green"}) {
        await("a Job of " + team + " runs")
            .atMost(LIMIT)
            .until(
                () ->
                    client.batch().v1().jobs().inNamespace(team).list().getItems().stream()
                        .anyMatch(TryCommandIT::isRunning));
      }
    }
    StringWriter explained = new StringWriter();
    await("the explanation of the Job that never fits")
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              int code =
                  Main.commandLine()
                      .setOut(new PrintWriter(explained))
                      .execute(
                          "explain",
                          "job",
                          "too-large",
                          "-n",
                          "blue",
                          "--kubeconfig",
                          kubeconfig.toString());
              assertThat(code).isZero();
              assertThat(explained.toString())
                  .contains("20 requested, more than the maximum of 16");
            });

    assertThat(ended.get()).isEqualTo(CommandLine.ExitCode.OK);
    assertThat(Files.exists(kubeconfig)).isFalse();
  }

  private static boolean isRunning(Job job) {
    return job.getStatus() != null
        && Objects.requireNonNullElse(job.getStatus().getActive(), 0) > 0;
  }

  private static String found(String pattern, String text) {
    Matcher matcher = Pattern.compile(pattern).matcher(text);
    assertThat(matcher.find()).as(text).isTrue();
    return matcher.group(1);
  }

  private static boolean connects(int port) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return socket.isConnected();
    }
  }
}
