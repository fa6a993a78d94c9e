/** Tests of the control plane's life: start, stop, faults. */
@NullMarked
package dev.sluice.lab.controlplane;

import org.jspecify.annotations.NullMarked;
