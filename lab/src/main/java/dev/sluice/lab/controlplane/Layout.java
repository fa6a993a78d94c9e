package dev.sluice.lab.controlplane;

import dev.sluice.lab.controlplane.binaries.Program;
import java.nio.file.Path;

/**
 * The paths of the files of one control plane.
 *
 * @param directory the directory that contains exactly these files
 */
record Layout(Path directory) {

  Path kubeconfig() {
    return directory.resolve("kubeconfig");
  }

  /** The kubeconfig of one of the control plane's own programs. */
  Path kubeconfig(Program program) {
    return directory.resolve(program.file() + ".kubeconfig");
  }

  Path keys() {
    return directory.resolve("pki");
  }

  Path key(String file) {
    return keys().resolve(file);
  }

  Path store() {
    return directory.resolve("etcd");
  }

  Path logs() {
    return directory.resolve("logs");
  }

  Path log(Program program) {
    return logs().resolve(program.file() + ".log");
  }

  Path kwokConfiguration() {
    return directory.resolve("kwok.yaml");
  }

  Path state() {
    return directory.resolve("state.json");
  }
}
