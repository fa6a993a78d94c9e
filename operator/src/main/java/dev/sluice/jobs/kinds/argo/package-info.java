/** Workflows of Argo, as Kube Queue holds them. Read from and written to JSON; no I/O. */
@NullMarked
package dev.sluice.jobs.kinds.argo;

import org.jspecify.annotations.NullMarked;
