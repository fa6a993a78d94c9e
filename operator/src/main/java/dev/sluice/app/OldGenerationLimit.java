package dev.sluice.app;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryNotificationInfo;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryUsage;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import javax.management.NotificationEmitter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the memory of a small process near the size of the objects that it uses.
 *
 * <p>The serial collector, which Java chooses in a small container, lets the old generation grow to
 * the largest heap that is allowed before it collects it: of 97 MiB only 44 were in use after 1,500
 * Jobs. Here it is collected when it has grown by a third since it was last collected, and once
 * more when the process has nothing to do, because what a start and the last jobs left would stay
 * for ever. The system gets back what is free beyond a tenth. Other collectors do the same by
 * themselves, and are left alone.
 *
 * <p>Figures: docs/performance.md, "Memory of the process".
 */
final class OldGenerationLimit {

  private static final Logger log = LoggerFactory.getLogger(OldGenerationLimit.class);
  private static final String SERIAL = "Tenured Gen";

  /** Bytes of growth that are worth a collection, however small the generation is. */
  private static final long LEAST_GROWTH = 10L << 20;

  /** Bytes from which on the first collection is worth its time: what a start leaves lives on. */
  private static final long FIRST = 40L << 20;

  private static final Duration LOOK = Duration.ofMinutes(1);

  /** As many collections of the young generation in {@link #LOOK} are those of an idle process. */
  private static final long IDLE = 2;

  /** Bytes of growth that are worth a collection in an idle process. */
  private static final long IDLE_GROWTH = 3L << 20;

  private static final String YOUNG_COLLECTOR = "Copy";

  private final MemoryPoolMXBean oldGeneration;
  private final AtomicLong usedAfterCollection = new AtomicLong();

  private OldGenerationLimit(MemoryPoolMXBean oldGeneration) {
    this.oldGeneration = oldGeneration;
  }

  /** Begins to watch the old generation of this process, if its collector is the serial one. */
  static void start() {
    start(LOOK);
  }

  /**
   * The same.
   *
   * @param look how often it is seen whether the process has nothing to do
   */
  static void start(Duration look) {
    Optional<MemoryPoolMXBean> serial =
        ManagementFactory.getMemoryPoolMXBeans().stream()
            .filter(pool -> pool.getName().equals(SERIAL) && pool.isUsageThresholdSupported())
            .findFirst();
    serial.ifPresent(pool -> new OldGenerationLimit(pool).watch(look));
  }

  private void watch(Duration look) {
    HotSpotDiagnosticMXBean machine =
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
    machine.setVMOption("MinHeapFreeRatio", "5");
    machine.setVMOption("MaxHeapFreeRatio", "10");
    if (ManagementFactory.getMemoryMXBean() instanceof NotificationEmitter memory) {
      memory.addNotificationListener(
          (notification, context) -> collect(),
          notification ->
              notification.getType().equals(MemoryNotificationInfo.MEMORY_THRESHOLD_EXCEEDED),
          null);
    }
    MemoryUsage memoryUsage = oldGeneration.getUsage();
    oldGeneration.setUsageThreshold(first(memoryUsage.getUsed(), memoryUsage.getMax()));
    ManagementFactory.getGarbageCollectorMXBeans().stream()
        .filter(collector -> collector.getName().equals(YOUNG_COLLECTOR))
        .findFirst()
        .ifPresent(
            young ->
                Thread.ofVirtual().name("idle-heap").start(() -> collectWhenIdle(young, look)));
  }

  private void collectWhenIdle(GarbageCollectorMXBean young, Duration look) {
    try {
      long before = young.getCollectionCount();
      while (true) {
        Thread.sleep(look);
        long now = young.getCollectionCount();
        boolean idle = now - before <= IDLE;
        before = now;
        if (idle && oldGeneration.getUsage().getUsed() - usedAfterCollection.get() >= IDLE_GROWTH) {
          collectNow();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void collect() {
    if (oldGeneration.getUsage().getUsed() >= oldGeneration.getUsageThreshold()) {
      collectNow();
    }
  }

  private void collectNow() {
    long before = oldGeneration.getUsage().getUsed();
    System.gc();
    MemoryUsage memoryUsage = oldGeneration.getUsage();
    usedAfterCollection.set(memoryUsage.getUsed());
    oldGeneration.setUsageThreshold(threshold(memoryUsage.getUsed(), memoryUsage.getMax()));
    log.debug("heap old-generation-before={} after={}", before, memoryUsage.getUsed());
  }

  /** The same for the first time; a threshold beyond what there is would be refused. */
  static long first(long used, long max) {
    long first = Math.max(FIRST, threshold(used, max));
    return max < 0 ? first : Math.min(first, max);
  }

  /**
   * From how many bytes on the old generation is collected again.
   *
   * @param used what lives in it, in bytes
   * @param max what it may grow to, in bytes; Java collects it by itself there
   */
  static long threshold(long used, long max) {
    long grown = used + Math.max(LEAST_GROWTH, used / 3);
    return max < 0 ? grown : Math.min(grown, max);
  }
}
