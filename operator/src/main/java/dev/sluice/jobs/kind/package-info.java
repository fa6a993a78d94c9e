/**
 * What a kind of job is to everybody else: the interface that each kind implements, its description
 * with what webhooks, MultiKueue and permissions need, and the parts that most implementations
 * share. Objects of the kind may enter. States, pod sets and patches leave; nothing is read or
 * written here.
 */
@NullMarked
package dev.sluice.jobs.kind;

import org.jspecify.annotations.NullMarked;
