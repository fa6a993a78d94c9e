package dev.sluice.lab.controlplane.binaries;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** Programs that are published, downloaded and cached together. */
public enum Bundle {
  /** The Kubernetes API server, controller manager and scheduler. */
  KUBERNETES("k8s.io/kubernetes"),
  /** The store behind the API server. */
  ETCD("go.etcd.io/etcd/server/v3"),
  /** KWOK, which simulates the kubelets of fake nodes. */
  KWOK("sigs.k8s.io/kwok");

  private final String module;

  Bundle(String module) {
    this.module = module;
  }

  /** The Go module whose version is the version of this bundle. */
  public String module() {
    return module;
  }

  /** The bundle's name in paths and messages, such as {@code kubernetes}. */
  public String title() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The programs in this bundle, at least one. */
  public List<Program> programs() {
    return Arrays.stream(Program.values()).filter(program -> program.bundle() == this).toList();
  }
}
