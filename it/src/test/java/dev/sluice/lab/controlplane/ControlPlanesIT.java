package dev.sluice.lab.controlplane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sluice.lab.controlplane.ControlPlanes.ControlPlaneStatus;
import dev.sluice.lab.controlplane.ControlPlanes.ControlPlaneStatus.Condition;
import dev.sluice.lab.controlplane.ManagedProcess.ProcessFiles;
import dev.sluice.lab.controlplane.binaries.Binaries;
import dev.sluice.lab.controlplane.binaries.DefaultBinarySources;
import dev.sluice.lab.controlplane.binaries.DefaultBinarySources.Progress;
import dev.sluice.testing.BuildBreadth;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Control planes are started, found and stopped by their names, several side by side. */
@Tag(BuildBreadth.NIGHTLY)
class ControlPlanesIT {

  private static final Duration LIMIT = Duration.ofMinutes(5);

  @TempDir private Path root = Path.of("");
  private ControlPlanes controlPlanes = new ControlPlanes(root, InstantSource.system());

  @BeforeEach
  void setUp() {
    controlPlanes = new ControlPlanes(root, InstantSource.system());
  }

  @Test
  void twoRunSideBySideAndNothingStaysBehind() throws Exception {
    Binaries binaries = binaries();
    Collection<Long> pids;
    try (ControlPlane first = controlPlanes.start(spec("first"), binaries);
        ControlPlane second = controlPlanes.start(spec("second"), binaries)) {
      List<ControlPlaneStatus> listed = controlPlanes.list();
      pids = listed.stream().flatMap(status -> status.processes().values().stream()).toList();

      assertThat(listed)
          .extracting(ControlPlaneStatus::name)
          .containsExactly(first.name(), second.name());
      assertThat(listed).extracting(ControlPlaneStatus::condition).containsOnly(Condition.RUNNING);
      assertThat(first.server()).isNotEqualTo(second.server());
      assertThat(pids).hasSize(10).allMatch(ControlPlanesIT::isAlive);
    }

    assertThat(pids).noneMatch(ControlPlanesIT::isAlive);
    assertThat(controlPlanes.list()).isEmpty();
    assertThat(root).isEmptyDirectory();
  }

  @Test
  void oneThatOutlivesItsStarterIsStoppedByItsName() throws Exception {
    NodeGroup spot =
        NodeGroup.parse("spot:count=2,cpu=2000,label=type=spot,taint=spot=true:NoSchedule");
    ControlPlaneSpec wished =
        spec("lasting").living(Lifetime.UNTIL_STOPPED).withNodes(List.of(spot));
    controlPlanes.start(wished, binaries());
    ControlPlaneStatus status = controlPlanes.find("lasting").orElseThrow();
    try {
      assertThatThrownBy(() -> controlPlanes.start(wished, binaries()))
          .hasMessageContaining("a control plane named \"lasting\" exists");
      try (KubernetesClient client = ApiClients.once(status.kubeconfig())) {
        List<Node> nodes = client.nodes().list().getItems();
        assertThat(nodes)
            .extracting(node -> node.getMetadata().getName())
            .containsExactly("spot-0", "spot-1");
        assertThat(nodes)
            .allSatisfy(
                node -> {
                  assertThat(node.getMetadata().getLabels()).containsEntry("type", "spot");
                  assertThat(node.getStatus().getAllocatable().get("cpu"))
                      .isEqualTo(new Quantity("2000"));
                  assertThat(node.getSpec().getTaints())
                      .anySatisfy(taint -> assertThat(taint.getKey()).isEqualTo("spot"));
                });
      }
    } finally {
      assertThat(controlPlanes.stop("lasting")).isTrue();
    }

    assertThat(status.processes().values()).hasSize(5).noneMatch(ControlPlanesIT::isAlive);
    assertThat(controlPlanes.stop("lasting")).isFalse();
    assertThat(Files.exists(status.kubeconfig())).isFalse();
  }

  @Test
  void nothingIsLeftWhenTheStarterIsAskedToEnd() throws Exception {
    Process starter = starter();
    ControlPlaneStatus status = controlPlanes.find("child").orElseThrow();

    starter.destroy();

    await().atMost(LIMIT).until(() -> !starter.isAlive());
    assertThat(status.processes().values()).hasSize(5).noneMatch(ControlPlanesIT::isAlive);
    assertThat(controlPlanes.list()).isEmpty();
  }

  @Test
  void whenTheStarterIsKilledItsProgramsDieAndItsFilesGoWithTheNextStart() throws Exception {
    Process starter = starter();
    ControlPlaneStatus status = controlPlanes.find("child").orElseThrow();
    assertThat(status.condition()).isEqualTo(Condition.RUNNING);

    starter.destroyForcibly();

    await()
        .atMost(LIMIT)
        .until(() -> status.processes().values().stream().noneMatch(ControlPlanesIT::isAlive));
    assertThat(controlPlanes.list())
        .extracting(ControlPlaneStatus::condition)
        .containsExactly(Condition.STALE);
    try (ControlPlane next = controlPlanes.start(spec("next"), binaries())) {
      assertThat(controlPlanes.list())
          .extracting(ControlPlaneStatus::name)
          .containsExactly(next.name());
    }
  }

  /** A process that has started the control plane "child" below the same root. */
  private Process starter() throws Exception {
    Process starter =
        new ProcessBuilder(
                ProcessHandle.current().info().command().orElseThrow(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Starter.class.getName(),
                root.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    assertThat(starter.inputReader().readLine()).isEqualTo("started");
    return starter;
  }

  private static ControlPlaneSpec spec(String name) {
    return ControlPlaneSpec.named(name).withoutSyncedWrites();
  }

  private static boolean isAlive(long pid) {
    return ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isPresent()
        && !ProcessFiles.isZombie(pid);
  }

  private static Binaries binaries() throws Exception {
    return DefaultBinarySources.standard(
            Optional.empty(), System.getenv(), InstantSource.system(), Progress.onStandardError())
        .obtain();
  }

  /** Starts a control plane, says so, and waits for its end. */
  static final class Starter {

    private Starter() {}

    public static void main(String[] args) throws Exception {
      new ControlPlanes(Path.of(args[0]), InstantSource.system()).start(spec("child"), binaries());
      System.out.println("started");
      System.out.flush();
      new CountDownLatch(1).await();
    }
  }
}
