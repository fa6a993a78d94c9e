package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.testing.TestCluster;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.opentest4j.TestAbortedException;

/** The script {@code kubectl-sluice}, run as kubectl runs it. */
final class KubectlPlugin {

  private static final Path SCRIPT = Path.of("kubectl-sluice");
  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final long LIMIT_SECONDS = 120;

  private final Path kubeconfig;

  /** With these permissions; the test is left out where there is no kubectl. */
  KubectlPlugin(Path kubeconfig) {
    this.kubeconfig = kubeconfig;
    boolean found =
        Stream.of(System.getenv().getOrDefault("PATH", "").split(":"))
            .anyMatch(directory -> Files.isExecutable(Path.of(directory, "kubectl")));
    if (!found) {
      throw new TestAbortedException("the plugin is not tried: there is no kubectl on the PATH");
    }
  }

  /** What it prints on both streams, and then its exit code. */
  String run(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("sh", SCRIPT.toString()));
    command.addAll(List.of(arguments));
    return output(command);
  }

  /** The same of kubectl itself. */
  String kubectl(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("kubectl"));
    command.addAll(List.of(arguments));
    return output(command);
  }

  private String output(List<String> command) throws IOException, InterruptedException {
    Path output = Files.createTempFile("kubectl-sluice", ".out");
    try {
      ProcessBuilder builder =
          new ProcessBuilder(command)
              .redirectInput(Path.of("/dev/null").toFile())
              .redirectErrorStream(true)
              .redirectOutput(output.toFile());
      builder.environment().put("KUBECONFIG", kubeconfig.toAbsolutePath().toString());
      Process process = builder.start();
      if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new AssertionError(command + " doesn't end");
      }
      return Files.readString(output, StandardCharsets.UTF_8) + "exit " + process.exitValue();
    } finally {
      Files.delete(output);
    }
  }

  /**
   * Expects that it tells of ClusterQueue {@code pool} and LocalQueue {@code main}.
   *
   * @param running how many CPUs are in use, all that there are
   * @param first the Workload that is next but one
   * @param last the Job that is last
   */
  void answers(String namespace, int running, String first, String last) throws Exception {
    await("the queue's status to follow the last admission")
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(run("top"))
                    .containsPattern(
                        "pool +[0-9]+ +%d +spot +cpu +%1$d +1 +%1$d +0\n".formatted(running))
                    .endsWith("exit 0"));
    assertThat(run("tree")).contains(running + " admitted").endsWith("exit 0");
    assertThat(run("explain", first, "-n", namespace))
        .as("behind the one that backs off")
        .contains("position 2 in ClusterQueue pool, ", " holds 1 cpu of flavor spot")
        .endsWith("exit 0");
    assertThat(run("explain", "job", last, "-n", namespace))
        .contains(" in ClusterQueue pool, ")
        .endsWith("exit 0");
    assertThat(run("pending", "main", "-n", namespace))
        .containsPattern("\n2 +[0-9-]+ +%s +%s +main +[^ ]+\n".formatted(namespace, first))
        .endsWith("exit 0");
    assertThat(run("when", "job", last, "-n", namespace))
        .containsPattern("-%s-[0-9a-f]+: .+".formatted(last))
        .endsWith("exit 0");
    assertThat(run("when", "none", "-n", namespace)).endsWith("exit 1");
    assertThat(run("explain", "none", "-n", namespace)).endsWith("exit 1");
    assertThat(run("dance")).contains("unknown command dance").endsWith("exit 2");
  }

  /** Expects that who may read the Workloads of a namespace may ask, and nobody else. */
  void isForTenants(TestCluster cluster, String workload) throws Exception {
    cluster.applyText(
        """
        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata: {name: tenant}
        roleRef:
          {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: kueue-workload-viewer-role}
        subjects: [{kind: User, name: tina, apiGroup: rbac.authorization.k8s.io}]
        """);
    String namespace = cluster.namespace();
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(run("explain", workload, "-n", namespace, "--as=tina"))
                    .contains(" in ClusterQueue pool, ")
                    .endsWith("exit 0"));
    assertThat(run("explain", workload, "-n", "default", "--as=tina"))
        .containsIgnoringCase("forbidden")
        .endsWith("exit 1");
    assertThat(run("explain", workload, "-n", namespace, "--as=tom"))
        .containsIgnoringCase("forbidden")
        .endsWith("exit 1");
  }
}
