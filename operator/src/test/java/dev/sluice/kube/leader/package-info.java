/** Tests of leader election. */
@NullMarked
package dev.sluice.kube.leader;

import org.jspecify.annotations.NullMarked;
