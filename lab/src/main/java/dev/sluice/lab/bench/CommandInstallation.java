package dev.sluice.lab.bench;

import dev.sluice.lab.bench.Installation.OwnFiles;
import dev.sluice.lab.controlplane.ApiClients;
import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.controlplane.Lifetime;
import dev.sluice.lab.controlplane.ManagedProcess;
import dev.sluice.lab.controlplane.Poller;
import dev.sluice.lab.controlplane.ProcessLauncher;
import dev.sluice.lab.controlplane.binaries.Binaries;
import dev.sluice.lab.player.PlayedDefinitions;
import dev.sluice.lab.process.OperatorAccount;
import dev.sluice.lab.process.OperatorProcess.JavaCommand;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceConversionBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A control plane of its own, and a process that is known by its command alone: the operator of
 * another project or version, or a {@link Floor} in the place of one.
 *
 * @param decides whether the process decides about Workloads by queues
 */
record CommandInstallation(
    ControlPlane controlPlane, ManagedProcess process, OwnFiles files, boolean decides)
    implements Installation.Started {

  private static final String DEFINITION = "/dev/sluice/crds/kueue.x-k8s.io_workloads.yaml";

  private static final Duration READY_LIMIT = Duration.ofMinutes(5);
  private static final Duration PROBE_LIMIT = Duration.ofSeconds(2);

  /**
   * Another operator.
   *
   * @param name its name in messages
   * @param command a shell's command that becomes the operator's process; its {@code {kubeconfig}}
   *     is the file of an account that may do everything, which {@code KUBECONFIG} names, too
   * @param manifests files with the objects that it needs, applied before its start
   * @param ready an address that answers 200 when it is ready; without one the operator is ready
   *     when the cluster serves the queues' kinds
   */
  record Other(String name, String command, List<Path> manifests, Optional<URI> ready) {}

  /** Starts a control plane with Workloads, without webhooks, and a {@link Floor}. */
  static CommandInstallation floor(String name, Binaries binaries) {
    return Installation.Started.start(
        name,
        binaries,
        (controlPlane, files) -> {
          define(controlPlane.kubeconfig());
          OperatorAccount.create(controlPlane.kubeconfig(), files.operatorKubeconfig());
          OwnFiles.PROGRAMS_FOR_PODS.forEach(controlPlane::crash);
          ManagedProcess process =
              new ProcessLauncher(Lifetime.WITH_THIS_PROCESS)
                  .start(
                      "floor",
                      JavaCommand.of(Floor.class, files.operatorKubeconfig().toString()),
                      controlPlane.logs().resolve("floor.log"));
          return new CommandInstallation(controlPlane, process, files, false);
        });
  }

  /**
   * Starts a control plane and another operator, and returns when the operator is ready.
   *
   * @param podsRun as of {@link Installation.Own#start}
   * @throws dev.sluice.lab.controlplane.ControlPlaneException when the operator ends before, or
   *     isn't ready within five minutes; with the end of its log
   */
  static CommandInstallation other(String name, Binaries binaries, boolean podsRun, Other other) {
    return Installation.Started.start(
        name,
        binaries,
        (controlPlane, files) -> {
          OperatorAccount.create(controlPlane.kubeconfig(), files.operatorKubeconfig());
          apply(controlPlane.kubeconfig(), other.manifests());
          String kubeconfig = files.operatorKubeconfig().toString();
          ManagedProcess process =
              new ProcessLauncher(Lifetime.WITH_THIS_PROCESS)
                  .start(
                      other.name(),
                      List.of(
                          "sh",
                          "-c",
                          "exec " + other.command().replace("{kubeconfig}", kubeconfig)),
                      controlPlane.logs().resolve("other.log"),
                      Map.of("KUBECONFIG", kubeconfig));
          CommandInstallation installation =
              new CommandInstallation(controlPlane, process, files, true);
          installation.awaitReady(other);
          if (!podsRun) {
            OwnFiles.PROGRAMS_FOR_PODS.forEach(controlPlane::crash);
          }
          return installation;
        });
  }

  private static void apply(Path kubeconfig, List<Path> manifests) {
    try (KubernetesClient client = ApiClients.patient(kubeconfig)) {
      for (Path manifest : manifests) {
        try (InputStream text = Files.newInputStream(manifest)) {
          for (HasMetadata object : client.load(text).items()) {
            client.resource(object).fieldManager("laboratory").forceConflicts().serverSideApply();
            if (object instanceof CustomResourceDefinition definition) {
              client
                  .resource(definition)
                  .waitUntilCondition(PlayedDefinitions::isEstablished, 1, TimeUnit.MINUTES);
            }
          }
        } catch (IOException e) {
          throw new BenchException("can't read " + manifest + ": " + e, e);
        }
      }
    }
  }

  private void awaitReady(Other other) {
    try (KubernetesClient client = ApiClients.patient(controlPlane.kubeconfig());
        HttpClient http = HttpClient.newBuilder().connectTimeout(PROBE_LIMIT).build()) {
      new Poller(InstantSource.system(), READY_LIMIT)
          .await(
              other.name() + " was ready",
              List.of(process),
              () ->
                  other
                      .ready()
                      .map(address -> answers(http, address))
                      .orElseGet(() -> client.hasApiGroup(BenchmarkTarget.GROUP, true)));
    }
  }

  private static boolean answers(HttpClient http, URI address) {
    try {
      HttpRequest request = HttpRequest.newBuilder(address).timeout(PROBE_LIMIT).build();
      return http.send(request, BodyHandlers.discarding()).statusCode() == 200;
    } catch (IOException notYet) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchException("interrupted while asking " + address, e);
    }
  }

  private static void define(Path kubeconfig) {
    try (KubernetesClient client = ApiClients.patient(kubeconfig);
        InputStream text = CommandInstallation.class.getResourceAsStream(DEFINITION)) {
      if (text == null) {
        throw new IllegalStateException(DEFINITION + " is not on the class path");
      }
      CustomResourceDefinition definition =
          client.getKubernetesSerialization().unmarshal(text, CustomResourceDefinition.class);
      definition
          .getSpec()
          .setConversion(new CustomResourceConversionBuilder().withStrategy("None").build());
      client.resource(definition).create();
      client
          .resource(definition)
          .waitUntilCondition(PlayedDefinitions::isEstablished, 1, TimeUnit.MINUTES);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public long operatorPid() {
    return process.pid();
  }

  @Override
  public CompletableFuture<String> ended() {
    return process.onEndTold();
  }

  @Override
  public void close() {
    try (files;
        controlPlane) {
      process.kill();
    }
  }
}
