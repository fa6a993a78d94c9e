package dev.sluice.lab.controlplane;

import dev.sluice.lab.controlplane.binaries.Program;
import java.nio.file.Path;

/**
 * Where the files of one control plane are.
 *
 * @param directory holds all of them, and nothing else
 */
record Layout(Path directory) {

  Path kubeconfig() {
    return directory.resolve("kubeconfig");
  }

  /** The kubeconfig that one of the control plane's own programs uses. */
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
