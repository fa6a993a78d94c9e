/** What holds for leadership, and for writes of queue kinds. */
@NullMarked
package dev.sluice.kube;

import org.jspecify.annotations.NullMarked;
