package dev.sluice.lab.controlplane.binaries;

/** A program of a control plane. */
public enum Program {
  /** The store. */
  ETCD("etcd", Bundle.ETCD, "go.etcd.io/etcd/server/v3"),
  /** The API server. */
  API_SERVER("kube-apiserver", Bundle.KUBERNETES, "k8s.io/kubernetes/cmd/kube-apiserver"),
  /** Runs the controllers: pods of Jobs, garbage collection, service accounts. */
  CONTROLLER_MANAGER(
      "kube-controller-manager",
      Bundle.KUBERNETES,
      "k8s.io/kubernetes/cmd/kube-controller-manager"),
  /** Binds pods to nodes. */
  SCHEDULER("kube-scheduler", Bundle.KUBERNETES, "k8s.io/kubernetes/cmd/kube-scheduler"),
  /** Simulates the kubelets. */
  KWOK("kwok", Bundle.KWOK, "sigs.k8s.io/kwok/cmd/kwok");

  private final String file;
  private final Bundle bundle;
  private final String mainPackage;

  Program(String file, Bundle bundle, String mainPackage) {
    this.file = file;
    this.bundle = bundle;
    this.mainPackage = mainPackage;
  }

  /** The name of the executable file, such as {@code kube-apiserver}. */
  public String file() {
    return file;
  }

  /** The bundle this program is published in. */
  public Bundle bundle() {
    return bundle;
  }

  /** The Go package that this program is built from. */
  public String mainPackage() {
    return mainPackage;
  }
}
