package dev.sluice.workload.devices;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.workload.Templates;
import dev.sluice.workload.devices.DeviceInventory.DeviceSlice;
import dev.sluice.workload.devices.DeviceReader.DeviceClass;
import dev.sluice.workload.devices.DeviceReader.DeviceObjects;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The devices of a cluster, as a test has them. */
final class GivenDevices implements DeviceObjects {

  private final DeviceSelectors selectors;
  private final List<ClaimSpec> templates = new ArrayList<>();
  private final List<DeviceClass> classes = new ArrayList<>();
  private final List<DeviceSlice> slices = new ArrayList<>();
  private boolean taints;
  private @Nullable DeviceInventory inventory;

  GivenDevices(DeviceSelectors selectors) {
    this.selectors = selectors;
  }

  GivenDevices template(String yaml) {
    return template(Templates.node(yaml));
  }

  GivenDevices template(JsonNode object) {
    templates.add(ClaimSpec.ofTemplate(object));
    return this;
  }

  GivenDevices withClass(String yaml) {
    return withClass(Templates.node(yaml));
  }

  GivenDevices withClass(JsonNode object) {
    classes.add(DeviceClass.of(object));
    return this;
  }

  GivenDevices slice(String yaml) {
    return slice(Templates.node(yaml));
  }

  GivenDevices slice(JsonNode object) {
    slices.add(DeviceSlice.of(object));
    inventory = null;
    return this;
  }

  GivenDevices withTaints() {
    taints = true;
    inventory = null;
    return this;
  }

  List<DeviceClass> classes() {
    return classes;
  }

  @Override
  public Optional<ClaimSpec> template(String namespace, String name) {
    return templates.stream()
        .filter(each -> each.namespace().equals(namespace) && each.name().equals(name))
        .findFirst();
  }

  @Override
  public Optional<DeviceClass> deviceClass(String name) {
    return classes.stream().filter(each -> each.name().equals(name)).findFirst();
  }

  @Override
  public DeviceInventory devices() {
    if (inventory == null) {
      inventory = new DeviceInventory(slices, selectors, taints);
    }
    return inventory;
  }
}
