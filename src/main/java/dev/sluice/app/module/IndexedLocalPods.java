package dev.sluice.app.module;

import dev.sluice.checks.multikueue.sync.LocalPods;
import dev.sluice.jobs.kinds.pod.PodIndex;
import java.util.List;
import java.util.function.BiConsumer;

/**
 * The managed pods of this cluster, for those who send them to others.
 *
 * @param directory what the watch tells
 */
record IndexedLocalPods(PodIndex directory) implements LocalPods {

  @Override
  public List<LocalPod> group(String namespace, String group) {
    return directory.group(namespace, group).stream()
        .map(
            pod ->
                new LocalPod(
                    pod.name(), pod.job().ref().uid(), pod.job().deletionTime().isPresent()))
        .toList();
  }

  @Override
  public void observe(BiConsumer<String, String> observer) {
    directory.observe(observer);
  }
}
