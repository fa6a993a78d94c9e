/**
 * Devices of dynamic resource allocation: claims, classes and devices of the cluster enter, and for
 * each pod template the amounts leave that quota counts (docs/devices.md).
 */
@NullMarked
package dev.sluice.workload.devices;

import org.jspecify.annotations.NullMarked;
