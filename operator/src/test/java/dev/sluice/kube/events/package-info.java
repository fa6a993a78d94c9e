/** Tests of the recording of events. */
@NullMarked
package dev.sluice.kube.events;

import org.jspecify.annotations.NullMarked;
