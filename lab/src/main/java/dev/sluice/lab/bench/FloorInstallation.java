package dev.sluice.lab.bench;

import dev.sluice.kube.definitions.DefinitionConditions;
import dev.sluice.lab.controlplane.ApiClients;
import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.controlplane.Lifetime;
import dev.sluice.lab.controlplane.ManagedProcess;
import dev.sluice.lab.controlplane.ProcessLauncher;
import dev.sluice.lab.controlplane.binaries.Binaries;
import dev.sluice.lab.process.JavaCommand;
import dev.sluice.lab.process.OperatorAccount;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceConversionBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A control plane that knows Workloads, without webhooks, and a {@link Floor} in the place of an
 * operator.
 */
record FloorInstallation(ControlPlane controlPlane, ManagedProcess process, OwnFiles files)
    implements Installation {

  private static final String DEFINITION = "/dev/sluice/crds/kueue.x-k8s.io_workloads.yaml";

  /** Starts both. */
  static FloorInstallation start(String name, Binaries binaries) {
    OwnFiles files = OwnFiles.make();
    ControlPlane controlPlane = files.controlPlane(name, binaries);
    try {
      define(controlPlane.kubeconfig());
      OperatorAccount.create(controlPlane.kubeconfig(), files.operatorKubeconfig());
      OwnFiles.PROGRAMS_FOR_PODS.forEach(controlPlane::crash);
      ManagedProcess process =
          new ProcessLauncher(Lifetime.WITH_THIS_PROCESS)
              .start(
                  "floor",
                  JavaCommand.of(Floor.class, files.operatorKubeconfig().toString()),
                  controlPlane.logs().resolve("floor.log"));
      return new FloorInstallation(controlPlane, process, files);
    } catch (RuntimeException e) {
      controlPlane.close();
      files.close();
      throw e;
    }
  }

  private static void define(Path kubeconfig) {
    try (KubernetesClient client = ApiClients.patient(kubeconfig);
        InputStream text = FloorInstallation.class.getResourceAsStream(DEFINITION)) {
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
          .waitUntilCondition(DefinitionConditions::isEstablished, 1, TimeUnit.MINUTES);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public Path kubeconfig() {
    return controlPlane.kubeconfig();
  }

  @Override
  public long operatorPid() {
    return process.pid();
  }

  @Override
  public CompletableFuture<String> ended() {
    return process.onEnd().thenApply(ended -> "the process that admits everything ended");
  }

  @Override
  public boolean passing() {
    return true;
  }

  @Override
  public boolean decides() {
    return false;
  }

  @Override
  public Optional<AuditLog> audit() {
    return Optional.of(files.audit());
  }

  @Override
  public void close() {
    try (files;
        controlPlane) {
      process.kill();
    }
  }
}
