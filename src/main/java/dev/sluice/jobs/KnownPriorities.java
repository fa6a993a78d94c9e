package dev.sluice.jobs;

import dev.sluice.api.v1beta2.WorkloadPriorityClass;
import io.fabric8.kubernetes.api.model.scheduling.v1.PriorityClass;
import java.util.Comparator;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** The priority classes of informers. */
public final class KnownPriorities implements PriorityLookup {

  private final Function<String, Optional<WorkloadPriorityClass>> ofWorkloads;
  private final Supplier<Stream<PriorityClass>> ofPods;

  /** Over lookups that any thread may use; there are few PriorityClasses. */
  public KnownPriorities(
      Function<String, Optional<WorkloadPriorityClass>> ofWorkloads,
      Supplier<Stream<PriorityClass>> ofPods) {
    this.ofWorkloads = ofWorkloads;
    this.ofPods = ofPods;
  }

  @Override
  public OptionalInt workloadPriorityClass(String name) {
    return ofWorkloads.apply(name).stream().mapToInt(WorkloadPriorityClass::getValue).findFirst();
  }

  @Override
  public OptionalInt priorityClass(String name) {
    return ofPods
        .get()
        .filter(known -> known.getMetadata().getName().equals(name))
        .mapToInt(KnownPriorities::value)
        .findFirst();
  }

  @Override
  public Optional<Named> globalDefault() {
    return ofPods
        .get()
        .filter(known -> Boolean.TRUE.equals(known.getGlobalDefault()))
        .map(known -> new Named(known.getMetadata().getName(), value(known)))
        .min(Comparator.comparingInt(Named::value).thenComparing(Named::name));
  }

  private static int value(PriorityClass known) {
    return Objects.requireNonNullElse(known.getValue(), 0);
  }
}
