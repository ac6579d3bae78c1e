<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
 <context>
  <name>Brokerscope</name>
  <message>
   <source>All commands, by name.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>All that are listed.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>As fast as it goes.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Assignments</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Back to their origin.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Backpressure</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Canvas.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Consumer</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Dead letters</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Ends the session and seals its recording.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Export report...</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Express</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Fast</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>File</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Filter</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Find a command...</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Fit to window</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Goes to the filter of the open panel.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>How far each group has come.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>In flight</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Jobs</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Leaves its group.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Light or dark</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Long work, with progress.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Makes a report of the session.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Messages that were given up on.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Messages under a lease.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Move to group...</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Moves the selected consumer.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Offsets</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Open scenario...</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Opens a scenario file.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Panels</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Pause</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Quit</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Rebalances and inspector.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Redrive all</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Redrive selected</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Right side</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Run</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Runs at the chosen speed.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Runs to the next event, then pauses.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Seals the recording and closes the window.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Send to the bench</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Session</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Show session folder</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Start again</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Step</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Stop</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Stops the session clock.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Switches the theme.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Ten times the chosen speed.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>The folder of the recording.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>The same scenario with the same seed.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>The tabs at the bottom.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>View</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>What holds producers back.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Who owns which partition.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Zoom in</source>
   <translation type="unfinished" />
  </message>
  <message>
   <source>Zoom out</source>
   <translation type="unfinished" />
  </message>
 </context>
</TS>
