package dev.sluice.workload.devices;

import java.util.Optional;
import java.util.stream.Stream;

/** The devices of a cluster, as a test has them. */
final class GivenDevices {

  private GivenDevices() {}

  /** A cluster with these templates. */
  static DeviceObjects templates(ClaimTemplate... templates) {
    return (namespace, name) ->
        Stream.of(templates)
            .filter(each -> each.namespace().equals(namespace) && each.name().equals(name))
            .findFirst()
            .or(Optional::empty);
  }
}
