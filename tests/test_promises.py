"""Which test holds the core to which row of the checklist (A1 to D5) and to which promise (1 to 42).

Not every test of a row stands here, only those that show it best.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
CORE = "broker_core"

ROWS: dict[str, str] = {
    # A: a broker in one process
    "A1 partitions and keys": """
        log/test_partitioners.py test_crc32_is_the_checksum_of_zip_files
        log/test_partitioners.py test_murmur2_is_that_of_the_java_clients
        log/test_partitioners.py test_messages_without_a_key_are_spread_evenly_to_within_one_stay
        simulation/test_scenarios.py test_partitions_and_keys""",
    "A2 groups and their assignors": """
        groups/test_assignors.py test_every_wanted_partition_has_exactly_one_owner_that_wants_it
        groups/test_assignors.py test_range_gives_runs_of_each_topic_and_round_robin_takes_turns
        groups/test_assignors.py test_sticky_moves_the_fewest_possible
        groups/test_cooperative.py test_only_the_partitions_that_move_are_revoked""",
    "A3 rebalances": """
        groups/test_coordinator.py test_what_was_owned_is_revoked_before_anything_is_assigned
        groups/test_coordinator.py test_joins_within_the_initial_delay_are_one_rebalance
        groups/test_coordinator.py test_a_changed_subscription_is_a_rebalance
        groups/test_coordinator.py test_more_partitions_rebalance_only_the_groups_that_want_them
        groups/test_states.py test_every_call_in_every_state
        groups/test_states.py test_the_words_are_those_of_the_window
        groups/test_static_members.py test_a_restarted_static_member_gets_its_partitions_back_without_a_rebalance
        clients/test_fencing.py test_a3_of_two_with_one_instance_id_the_newer_stays_and_the_older_one_ends
        clients/test_consumer.py test_a_listener_that_needs_time_is_waited_for_before_the_partitions_go""",
    "A4 dead consumers": """
        groups/test_coordinator.py test_a_silent_member_is_removed_at_its_session_timeout_and_not_before
        groups/test_coordinator.py test_a_member_that_stops_polling_is_removed_although_it_heartbeats""",
    "A5 committed offsets": """
        groups/test_commits.py test_commits_advance_and_never_go_back
        groups/test_commits.py test_commits_of_an_old_generation_are_fenced
        clients/test_group_consumer.py test_poll_gives_everything_once_and_a_restart_goes_on_behind_the_commit
        clients/test_group_consumer.py test_iteration_commits_nothing_that_is_still_being_worked_on
        clients/test_consumer.py test_auto_commit_takes_what_earlier_polls_gave_and_only_when_it_is_time""",
    "A6 seek and reset": """
        clients/test_group_consumer.py test_pause_seek_and_seek_to_time
        groups/test_offset_reset.py test_every_form_says_what_would_change
        groups/test_offset_reset.py test_no_form_ever_leaves_the_log
        clients/test_admin.py test_groups_their_lag_and_a_reset_that_is_previewed""",
    "A7 lag": """
        groups/test_commits.py test_the_view_tells_lag_only_where_something_is_committed
        simulation/test_scenarios.py test_lag_and_catch_up""",
    "A8 queues": """
        queues/test_queue.py test_messages_come_out_in_order_and_each_once
        queues/test_queue.py test_peek_shows_what_is_next_and_takes_nothing
        queues/test_queue.py test_a_purge_takes_out_what_nobody_holds
        queues/test_queue.py test_a_take_that_waits_ends_empty_at_its_deadline
        queues/test_backpressure.py test_whatever_finishes_a_message_lets_the_next_producer_in""",
    "A9 priorities": """
        queues/test_priorities.py test_zero_is_the_most_urgent_and_equal_priorities_keep_their_order
        queues/test_priorities.py test_a_message_rises_one_level_each_time_the_ageing_has_passed
        queues/test_priorities.py test_starvation_is_bounded""",
    "A10 leases": """
        queues/test_queue.py test_a_lease_expires_exactly_its_length_after_delivery_and_keeps_its_order
        queues/test_queue.py test_an_extended_lease_ends_later_and_its_neighbours_do_not
        queues/test_queue.py test_a_release_counts_no_attempt
        queues/test_scale.py test_take_ack_and_expire_cost_no_more_than_the_logarithm_of_what_is_in_flight
    """,
    "A11 attempts": """
        queues/test_dead_letters.py test_nacks_expiries_and_restarts_count_together
        engine/test_host.py test_attempts_survive_a_crash_after_a_tick""",
    "A12 retry policies": """
        queues/test_retry.py test_the_four_policies
        queues/test_retry.py test_a_delay_is_never_above_its_maximum_jitter_included
        queues/test_retry.py test_a_nacked_message_comes_back_after_its_delay_and_not_before""",
    "A13 dead letters": """
        queues/test_dead_letters.py test_a_dead_letter_keeps_the_original_and_tells_of_every_attempt
        queues/test_dead_letters.py test_dead_letters_are_grouped_by_cause_and_filtered
        queues/test_dead_letters.py test_an_edited_dead_letter_goes_back_as_edited_and_is_counted
        queues/test_dead_letters.py test_a_dry_run_says_what_would_happen_and_does_nothing
        queues/test_dead_letters.py test_a_paced_redrive_keeps_its_rate_and_can_be_cancelled
        queues/test_dead_letters.py test_an_interrupted_redrive_loses_nothing
        queues/test_dead_letters.py test_a_purge_of_dead_letters_can_be_undone_for_a_while
        queues/test_large_letters.py test_a_message_of_the_largest_size_dies_and_is_redriven_again_and_again""",
    "A14 the log": """
        log/test_partition_log.py test_reading_goes_on_in_the_middle_of_a_batch_and_across_segments
        log/test_cleaning.py test_segments_go_once_their_last_message_is_too_old
        log/test_cleaning.py test_the_oldest_segments_go_while_the_rest_still_holds_enough_bytes
        log/test_cleaning.py test_compaction_keeps_the_latest_of_each_key_at_its_offset
        log/test_cleaning.py test_a_key_without_a_value_is_deleted_and_its_tombstone_goes_later""",
    "A15 a restart": """
        engine/test_host.py test_everything_is_there_again_after_a_restart
        queues/test_restart.py test_leases_waits_and_counts_go_on_where_they_were
        groups/test_offsets.py test_one_flush_is_one_sqlite_commit""",
    "A16 rates and depths": """
        flow/test_token_bucket.py test_a_third_of_a_message_per_second_is_one_in_three_seconds
        flow/test_gate.py test_a_rate_lets_blocked_producers_in_when_their_time_comes
        clients/test_producer_rate.py test_a16_a_producer_keeps_to_its_own_rate_and_its_burst
        simulation/test_producer.py test_a_producer_keeps_its_own_rate_and_its_burst""",
    "A17 slow readers": "clients/test_consumer.py test_a17_readers_that_are_behind_are_named_by_lag_and_by_time",
    "A18 schemas": """
        schemas/test_registry.py test_each_of_the_seven_modes_accepts_what_its_name_says
        schemas/test_registry.py test_a_diff_names_what_was_added_removed_and_changed
        schemas/test_validation.py test_a_json_value_is_refused_with_a_pointer_to_the_field
        schemas/test_validation.py test_avro_data_are_refused_with_a_pointer_to_the_field
        clients/test_schema_admin.py test_a_topic_takes_avro_from_a_producer_and_buries_the_rest""",
    "A19 serializers": """
        clients/test_serializers.py test_json_comes_back_as_it_was
        clients/test_serializers.py test_messagepack_comes_back_as_it_was
        clients/test_serializers.py test_avro_written_with_version_one_is_read_as_version_two_and_back""",
    "A21 middleware": """
        clients/test_middleware.py test_what_goes_out_meets_the_first_first_and_what_comes_in_meets_it_last
        clients/test_middleware.py test_routing_sets_the_topic_and_later_middleware_sees_it
        clients/test_middleware.py test_dedupe_drops_the_copy_and_nothing_else
        clients/test_middleware.py test_a_dedupe_of_a_hundred_thousand_costs_what_one_of_ten_costs""",
    "A22 figures": """
        flow/test_gate.py test_the_view_shows_the_gauges
        simulation/test_any_scenario.py test_sums_and_promises_hold_whatever_happens""",
    "A23 the producer": """
        clients/test_sender.py test_messages_wait_for_company_until_the_linger_timer_fires
        clients/test_sender.py test_a_failed_batch_reaches_its_caller_and_the_next_one_goes_on
        clients/test_sender.py test_an_idempotent_producer_loses_and_duplicates_nothing_whatever_the_line_does
        clients/test_sender.py test_acks_0_asks_nothing_and_acks_1_only_for_the_log
        clients/test_producer.py test_callbacks_are_called_in_order_without_the_lock
        clients/test_producer.py test_closing_sends_what_lingers_and_then_takes_nothing_more""",
    "A24 messages": """
        test_message_ttl.py test_readers_of_a_topic_get_nothing_that_is_older_whatever_it_says_of_itself
        clients/test_consumer.py test_a24_a_message_whose_time_to_live_is_over_is_not_handed_out
        queues/test_queue.py test_an_expired_message_is_passed_over_and_reported
        log/test_batch.py test_ttl_and_priority_travel_in_reserved_headers
        log/test_partition_log.py test_the_log_keeps_its_own_copy""",
    # C: the simulated broker
    "C1 fan-out": """
        simulation/test_subscriptions.py test_each_subscriber_gets_every_message_from_its_beginning_on
        simulation/test_subscriptions.py test_a_full_backlog_turns_the_newest_away_from_that_subscriber_alone""",
    "C2 several topics": """
        simulation/test_subscriptions.py test_who_waits_for_several_topics_loses_nothing_and_prefers_the_first""",
    "C3 publishers and subscribers": "simulation/test_ground_truth.py test_simple",
    "C4 backpressure policies": """
        simulation/test_scenarios.py test_backpressure_policies
        simulation/test_scenarios.py test_adaptive_producer
        flow/test_adaptive.py test_c4_adaptive_backpressure_gives_the_measured_figures""",
    "C5 guarantees": """
        simulation/test_scenarios.py test_at_most_or_at_least_once
        clients/test_guarantees.py test_what_a_death_in_the_middle_costs""",
    "C6 load balancing": """
        queues/test_balancing.py test_c6_a_queue_gives_its_messages_to_those_who_wait_as_it_was_told
        simulation/test_scenarios.py test_c6_load_balancing""",
    "C7 counters that add up": """
        flow/test_gate.py test_depth_stays_below_the_limit_and_the_counters_add_up
        queues/test_backpressure.py test_c7_the_counters_add_up
        simulation/test_any_scenario.py test_sums_and_promises_hold_whatever_happens""",
    "C8 the measured figures": """
        simulation/test_ground_truth.py test_simple
        simulation/test_ground_truth.py test_backpressure
        simulation/test_ground_truth.py test_acknowledged
        queues/test_redelivery_figures.py test_c8_ack_gives_the_measured_timeline""",
    # D: the simple queue
    "D1 three forms": "clients/test_simple_queue.py test_d1_the_three_json_forms",
    "D2 stored on return": """
        clients/test_simple_queue.py test_d2_what_was_published_or_received_is_stored_when_the_call_returns""",
    "D3 pull and acknowledge": """
        clients/test_simple_queue.py test_d3_what_is_acknowledged_is_gone_and_the_rest_comes_back""",
    "D4 replay": "clients/test_simple_queue.py test_d4_replay_from_an_id_or_a_time_changes_nothing",
    "D5 storage, priorities, several": "clients/test_simple_queue.py test_d5_priorities_and_several_consumers",
    # promises
    "1 the death of the process": """
        ../crash/test_kill_nine.py test_nothing_acknowledged_is_lost_in_many_kills
        ../crash/test_host_kill_nine.py test_whatever_was_acknowledged_is_there_after_each_kill
        listeners/http/test_kill.py test_what_was_acknowledged_with_fsync_survives_kill_9
        ../app/cli/test_elsewhere.py test_a_broker_that_is_killed_while_messages_are_published_is_one_sentence""",
    "2 a power cut": """
        log/test_power_cut.py test_a_power_cut_anywhere_in_a_long_script_loses_nothing_that_was_acknowledged""",
    "3 a torn tail": """
        log/test_recovery.py test_a_tail_cut_at_any_byte_of_the_last_three_batches_leaves_exactly_the_whole_ones""",
    "4 no wrong byte": """
        log/test_recovery.py test_no_flipped_bit_in_any_file_ever_serves_a_wrong_record
        log/test_recovery.py test_every_bit_of_a_compacted_segment_is_guarded_too
        log/test_recovery.py test_damage_in_the_middle_names_the_lost_offsets_and_the_rest_is_read
        groups/test_offsets.py test_promises_4_and_28_no_flipped_bit_of_the_file_gives_another_offset
        engine/test_data_directory.py test_promise_4_every_flipped_bit_and_every_cut_is_named
        broker/test_corruption_report.py test_corruption_found_by_reading_is_told_once_and_degrades_the_partition""",
    "5 a full disk": """
        ../crash/test_full_disk.py test_a_file_that_may_not_grow_refuses_cleanly_and_takes_more_when_it_may
        ../crash/test_full_disk.py test_a_disk_of_one_mebibyte_refuses_cleanly_and_takes_more_when_there_is_room
        test_files.py test_short_writes_are_noticed""",
    "6 a failed fsync": "log/test_power_cut.py test_a_failed_fsync_makes_the_log_read_only_for_good",
    "7 one value per offset": """
        simulation/test_scenarios.py test_the_same_seed_gives_the_same_digest
        simulation/test_any_actions.py test_a_user_who_tries_everything_breaks_no_promise
        recording/test_checker.py test_a_broken_broker_is_caught_with_the_shortest_history_that_shows_it""",
    "8 at least once": """
        recording/test_checker.py test_promise_8_with_all_faults_nothing_is_lost_in_a_run_that_comes_to_its_end
        clients/test_consumer.py test_at_least_once_an_abandoned_consumers_messages_come_again""",
    "9 at most once": """
        clients/test_consumer.py test_at_most_once_commits_before_it_hands_out
        clients/test_group_consumer.py test_promise_9_at_most_once_a_commit_is_on_the_disk_before_the_message_is_out
        recording/test_checker_rules.py test_at_most_once_is_broken_by_a_second_delivery""",
    "10 effectively once": """
        clients/test_effects.py test_a_kill_between_effect_and_commit_neither_loses_nor_repeats_one
        log/test_producers.py test_each_of_the_last_five_batches_is_recognised_with_its_own_offset
        ../crash/test_kill_nine.py test_a_retry_after_the_death_of_the_broker_is_stored_once""",
    "11 order and starvation": """
        queues/test_queue_model.py TestQueueAgainstModel
        log/test_log_model.py TestLogModel
        queues/test_priorities.py test_starvation_is_bounded""",
    "12 one holder": """
        queues/test_queue.py test_a_late_acknowledgement_is_refused_even_before_the_timer_has_fired
        queues/test_queue.py test_somebody_else_can_do_nothing_with_a_lease""",
    "13 poison": """
        ../crash/test_queue_kill_nine.py test_promise_13_who_kills_its_worker_at_once_is_dead_at_its_last_attempt
        queues/test_journal.py test_whenever_it_dies_it_goes_on_where_it_was
        queues/test_dead_letters.py test_a_poison_message_is_dead_lettered_at_exactly_its_last_attempt
        queues/test_dead_letters.py test_a_redrive_appends_to_the_origin_and_removes_after_and_is_counted
        simulation/test_scenarios.py test_poison_message""",
    "14 one owner": """
        groups/test_many_members.py test_members_join_and_leave_in_waves_and_every_partition_always_finds_an_owner
        groups/test_group_model.py TestGroupModel""",
    "15 slow consumers": """
        simulation/test_subscriptions.py test_promise_15_a_slow_consumer_slows_nobody_and_holds_at_most_its_limit
        listeners/kafka/test_floods.py test_promise_15_answers_that_nobody_reads_are_counted_and_others_are_served""",
    "16 depths and sums": """
        flow/test_gate.py test_depth_stays_below_the_limit_and_the_counters_add_up
        recording/test_checker.py test_a_broken_broker_is_caught_with_the_shortest_history_that_shows_it""",
    "17 the wall clock": """
        engine/test_host.py test_a_jump_of_the_wall_clock_moves_no_deadline
        simulation/test_faults.py test_a_jump_of_the_wall_clock_changes_nothing""",
    "18 the same run": "simulation/test_replay.py test_two_hash_seeds_give_the_same_events_and_the_same_recording",
    "19 malformed frames": """
        listeners/http/test_malformed_requests.py test_promise_19_malformed_requests_get_an_error_never_a_crash_or_hang
        listeners/http/test_malformed_requests.py test_promise_19_malformed_requests_in_their_hundred_thousands
        listeners/http/test_malformed_requests.py test_promise_19_malformed_bodies_get_an_error_and_connections_live
        listeners/kafka/test_malformed_frames.py test_mutated_requests_are_answered_or_end_their_connection
        listeners/kafka/test_malformed_frames.py test_any_body_is_read_or_refused
        listeners/kafka/test_malformed_frames.py test_any_records_are_batches_or_refused""",
    "20 oversize": """
        listeners/http/test_sizes.py test_promise_20_a_declared_length_beyond_the_limit_is_refused_unsent
        listeners/kafka/test_malformed_frames.py test_the_largest_declared_length_takes_no_memory_and_is_refused
        listeners/access/test_limits.py test_promise_20_a_declared_length_is_enough_to_refuse""",
    "21 silent and slow connections": """
        listeners/kafka/test_floods.py test_strangers_hold_four_kilobytes_each_until_they_are_gone
        listeners/kafka/test_floods.py test_who_holds_the_most_bytes_is_cut_and_nobody_else
        listeners/http/test_slow_clients.py test_promise_21_silent_and_partial_connections_cost_nobody_else_and_are_cut
        listeners/http/test_slow_clients.py test_promise_21_streams_of_events_have_a_share_of_their_own
        listeners/http/test_slow_clients.py test_who_asks_for_nothing_gives_way_where_there_are_too_many""",
    "22 loopback, Host and Origin": """
        listeners/access/test_access.py test_promise_22_an_address_that_others_reach_needs_a_token
        listeners/http/test_who_may_come_in.py test_promise_22_the_listener_is_on_loopback_unless_told_otherwise
        listeners/http/test_who_may_come_in.py test_promise_22_another_address_needs_a_token
        listeners/http/test_who_may_come_in.py test_promise_22_rebinding_host_and_origin_are_checked
        listeners/http/test_origin.py test_promise_22_host_and_origin
        listeners/kafka/test_who_may_come_in.py test_who_knows_the_token_comes_in_and_nobody_else""",
    "23 names": """
        test_names.py test_a_name_that_no_directory_may_have_is_refused_and_nothing_is_made
        test_names.py test_names_that_differ_only_in_case_clash
        test_files.py test_no_path_leaves_the_root""",
    "24 loading never executes": """
        simulation/test_strict_yaml.py test_what_is_refused_and_at_which_line
        clients/test_serializers.py test_a_pickle_that_would_run_code_is_only_bytes""",
    "25 a payload is never markup": """
        ../spark_reports/page/test_page.py test_nothing_of_a_session_is_markup
        ../app/pages/test_page.py test_it_may_run_what_is_in_it_and_nothing_else
        ../app/cli/test_commands.py test_names_and_payloads_are_data_and_never_markup_for_the_terminal
        ../widgets/canvas/test_canvas.py test_names_are_plain_text
        ../widgets/dialogs/test_forms.py test_data_is_never_markup
        ../widgets/panels/test_dead_letters.py test_markup_is_shown_as_it_is_everywhere
        ../widgets/panels/test_panels_alone.py test_findings_are_plain_text_and_nothing_of_the_last_report_stays""",
    "26 exported CSV": """
        ../spark_reports/test_exports.py test_what_a_spreadsheet_would_run_is_quoted
        ../spark_reports/test_exports.py test_no_cell_begins_with_something_active_unless_it_is_a_number""",
    "27 a compression bomb": """
        log/test_compression.py test_promise_27_a_bomb_takes_no_more_memory_than_the_limit
        listeners/access/test_limits.py test_promise_27_a_bomb_is_stopped_before_it_is_unpacked
        listeners/http/test_sizes.py test_promise_27_a_compression_bomb_is_refused""",
    "28 a damaged SQLite file": """
        groups/test_offsets.py test_a_damaged_file_is_put_aside_and_rebuilt_from_its_journal_without_loss
        groups/test_offsets.py test_promises_4_and_28_no_flipped_bit_of_the_file_gives_another_offset
        groups/test_offsets.py test_promise_28_a_cut_write_ahead_log_loses_no_commit_and_is_said
        engine/test_host.py test_promise_28_a_catalog_that_is_gone_is_read_from_its_copy_and_said
        engine/test_host.py test_promise_28_messages_without_an_entry_are_told_and_no_new_topic_takes_them_over
        engine/test_host.py test_promise_28_a_segment_that_is_gone_is_said
        engine/test_host.py test_promise_28_messages_that_were_handed_out_and_are_gone_are_said""",
    "29 schemas": """
        schemas/test_never_fetches_never_hangs.py test_a_remote_reference_is_refused_wherever_it_stands
        schemas/test_never_fetches_never_hangs.py test_an_evil_pattern_on_50_000_characters_is_bounded_work""",
    "30 nothing leaks": """
        engine/test_host.py test_nothing_leaks
        engine/test_host.py test_threads_and_descriptors_stay_flat_over_five_minutes
        listeners/http/test_opening_and_closing.py test_promise_30_nothing_leaks_while_connections_come_and_go
        listeners/http/test_opening_and_closing.py test_promise_30_nothing_leaks_over_five_minutes""",
    "31 one moment, one set of figures": """
        ../figures/test_figures.py test_what_is_shown_is_what_the_events_say
        ../figures/test_figures.py test_so_it_is_in_sessions_drawn_by_chance
        ../spark_reports/test_gaps.py test_the_report_and_the_window_count_alike""",
    "32 what failed": """
        clients/test_failed_publishes.py test_what_no_policy_let_in_in_time_is_never_stored
        clients/test_failed_publishes.py test_a_publish_that_timed_out_is_not_stored_when_there_is_room
        clients/test_failed_publishes.py test_what_a_bad_line_may_have_stored_is_said_to_be_in_doubt
        clients/test_failed_publishes.py test_what_waits_for_the_disk_is_in_doubt_when_its_producer_gives_up
        listeners/http/test_queues.py test_promise_32_what_was_refused_or_given_up_is_never_stored""",
    "33 settings are judged when they are made": """
        test_settings.py test_every_class_of_settings_is_judged
        test_settings.py test_a_field_takes_nothing_that_it_cannot_mean""",
    "34 durable acknowledgements": """
        ../crash/test_queue_kill_nine.py test_promise_34_an_acknowledgement_that_is_to_be_durable_survives_a_kill
        ../crash/test_queue_kill_nine.py test_promise_34_by_http
        queues/test_journal.py test_what_is_synced_is_handed_out_after_its_attempt_is_durable""",
    "35 a real client loses nothing that it was told is stored": """
        ../crash/test_kafka_kill_nine.py test_what_was_acknowledged_to_a_kafka_client_survives_each_kill
        listeners/kafka/test_produce_and_consume.py test_what_was_acknowledged_is_there_after_a_restart""",
    "36 a transaction is all or nothing": """
        ../crash/test_transaction_kill_nine.py test_a_transaction_is_all_or_nothing_over_a_kill
        transactions/test_law.py TestTransactions
        listeners/kafka/test_transactions.py test_what_is_committed_is_seen_and_what_is_aborted_is_not""",
    "37 what is opened for one is closed to others": """
        engine/test_private.py test_a_data_directory_is_its_owners_alone
        ../app/cli/test_processes.py test_promise_37_a_token_is_in_no_argument_list_and_nothing_written""",
    "38 the work of a request is bounded": """
        listeners/kafka/test_floods.py test_promise_38_a_request_of_too_many_elements_is_not_begun
        listeners/kafka/test_cost.py test_promise_38_each_element_of_a_request_costs_little
        listeners/kafka/test_fetch_sessions.py test_promise_38_a_session_has_so_many_partitions_and_so_have_all_together
        listeners/kafka/test_floods.py test_promise_38_a_worker_that_changes_much_lets_others_have_the_lock
        listeners/kafka/test_floods.py test_promise_38_a_request_acknowledges_as_many_records_as_a_batch_has_in_all
        groups/test_coordinator.py test_promise_38_the_metadata_of_all_members_together_has_a_limit
        listeners/kafka/test_floods.py test_promise_38_a_topic_that_is_named_a_hundred_times_is_described_once
        listeners/kafka/test_floods.py test_promise_38_the_lock_is_free_between_the_slices_of_a_long_answer""",
    "39 what is not asked for costs nothing": """
        listeners/kafka/test_cost.py test_a_request_for_one_topic_costs_the_same_beside_many
        transactions/test_coordinator.py test_promise_39_an_id_costs_the_same_however_many_there_are
        groups/test_reconciling.py test_promise_39_a_large_group_gathers_its_changes_and_then_everybody_reads""",
    "40 what may not be read is not named": """
        listeners/test_names.py test_every_api_stands_in_the_table
        listeners/test_names.py test_no_api_names_what_may_not_be_read
        listeners/test_names.py test_no_route_names_what_may_not_be_read
        listeners/test_names.py test_no_request_names_what_may_not_be_read
        listeners/test_names.py test_the_id_of_what_may_not_be_read_tells_no_name""",
    "41 no correct program is accused": """
        testing/test_three_clients.py test_a_right_program_is_accused_of_nothing
        testing/test_three_clients.py test_a_wrong_program_is_caught_for_its_own_reason
        testing/test_right_programs.py test_partitions_assigned_by_hand_with_commits
        testing/test_right_programs.py test_a_static_member_that_is_restarted
        testing/test_right_programs.py test_a_broker_that_is_restarted_under_a_group""",
    "42 looking changes nothing": """
        observation/kafka/test_connection.py test_nothing_is_sent_that_changes_anything
        observation/kafka/test_connection.py test_no_request_that_may_be_sent_changes_anything
        observation/kafka/test_peer.py test_questions_are_answered_from_what_was_seen_and_nothing_is_changed""",
}

WANTED = [
    *(f"A{number}" for number in range(1, 25) if number != 20),
    *(f"C{number}" for number in range(1, 9)),
    *(f"D{number}" for number in range(1, 6)),
    *map(str, range(1, 43)),
]


def test_every_row_has_its_tests() -> None:
    assert [row.split()[0] for row in ROWS] == WANTED


@pytest.mark.parametrize("row", ROWS)
def test_the_tests_of_a_row_are_there(row: str) -> None:
    named = [line.split() for line in ROWS[row].strip().splitlines()]
    assert named
    for file, name in named:
        text = (TESTS / CORE / file).read_text("utf-8")
        assert re.search(rf"^(def {name}\(|class {name}\b|{name} = )", text, re.MULTILINE), f"{file} has no {name}"
