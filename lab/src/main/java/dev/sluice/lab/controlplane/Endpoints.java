package dev.sluice.lab.controlplane;

import java.net.URI;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * The loopback ports of one control plane.
 *
 * @param apiServer HTTPS port of the API server
 * @param store port of the store for the API server
 * @param storePeer peer port that etcd requires
 */
record Endpoints(int apiServer, int store, int storePeer) {

  /** Three different ports that are free now. */
  static Endpoints free(RandomGenerator random) {
    List<Integer> ports = FreePorts.choose(3, random);
    return new Endpoints(ports.get(0), ports.get(1), ports.get(2));
  }

  URI server() {
    return URI.create("https://127.0.0.1:" + apiServer);
  }

  URI storeUri() {
    return URI.create("http://127.0.0.1:" + store);
  }

  URI storePeerUri() {
    return URI.create("http://127.0.0.1:" + storePeer);
  }
}
