"""The rehearsal: a stack file taken through the real engine against stand-in clouds."""
