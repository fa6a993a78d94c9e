/** Tests of the work queue. */
@NullMarked
package dev.sluice.kube.controller;

import org.jspecify.annotations.NullMarked;
