<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
 <context>
  <name>Brokerscope</name>
  <message>
   <source>
Values must match the schema {schema}.</source>
   <translation>
Werte müssen zum Schema {schema} passen.</translation>
  </message>
  <message>
   <source>
Wall time {wall}</source>
   <translation>
Wanduhrzeit {wall}</translation>
  </message>
  <message>
   <source> (a transaction's marker may count)</source>
   <translation> (der Marker einer Transaktion kann mitzählen)</translation>
  </message>
  <message>
   <source> (revoked)</source>
   <translation> (entzogen)</translation>
  </message>
  <message>
   <source> And {count} more.</source>
   <translation> Und {count} weitere.</translation>
  </message>
  <message>
   <source> It is read by {groups}.</source>
   <translation> Gelesen wird es von {groups}.</translation>
  </message>
  <message>
   <source> Its partitions in {name} {heirs}.</source>
   <translation> Seine Partitionen in {name} {heirs}.</translation>
  </message>
  <message>
   <source> KiB</source>
   <translation> KiB</translation>
  </message>
  <message>
   <source> KiB a partition</source>
   <translation> KiB je Partition</translation>
  </message>
  <message>
   <source> So were {count} others.</source>
   <translation> Ebenso {count} andere.</translation>
  </message>
  <message>
   <source> This one is not: branch here (Ctrl+B) to rerun and record it up to now.</source>
   <translation> Diese nicht: Hier abzweigen (Strg+B), um sie bis jetzt noch einmal auszuführen und aufzuzeichnen.</translation>
  </message>
  <message>
   <source> This one will still be recorded to its end.</source>
   <translation> Diese wird noch bis zu ihrem Ende aufgezeichnet.</translation>
  </message>
  <message>
   <source> a second</source>
   <translation> pro Sekunde</translation>
  </message>
  <message>
   <source> bytes</source>
   <translation> Bytes</translation>
  </message>
  <message>
   <source> bytes/s</source>
   <translation> Bytes/s</translation>
  </message>
  <message>
   <source> held by {holder}</source>
   <translation> gehalten von {holder}</translation>
  </message>
  <message>
   <source> messages</source>
   <translation> Nachrichten</translation>
  </message>
  <message>
   <source> messages/s</source>
   <translation> Nachrichten/s</translation>
  </message>
  <message>
   <source> ms</source>
   <translation> ms</translation>
  </message>
  <message>
   <source> or </source>
   <translation> oder </translation>
  </message>
  <message>
   <source> s</source>
   <translation> s</translation>
  </message>
  <message>
   <source> s of session time</source>
   <translation> s Sitzungszeit</translation>
  </message>
  <message>
   <source> times</source>
   <translation> Mal</translation>
  </message>
  <message>
   <source> {count:,} more dead letters are counted but not listed.</source>
   <translation> Von den Dead Letters sind {count:,} gezählt, nicht aufgeführt.</translation>
  </message>
  <message>
   <source> {count} are in flight and stay.</source>
   <translation> {count} sind in Arbeit und bleiben.</translation>
  </message>
  <message>
   <source> · {tokens} left</source>
   <translation> · {tokens} übrig</translation>
  </message>
  <message>
   <source>"packers fall behind" is raised once, after packer-1 has slowed down.</source>
   <translation>„packers fall behind“ wird einmal ausgelöst, nachdem packer-1 langsamer geworden ist.</translation>
  </message>
  <message>
   <source>"two words"</source>
   <translation>"zwei Wörter"</translation>
  </message>
  <message>
   <source>#</source>
   <translation>#</translation>
  </message>
  <message>
   <source>(no value)</source>
   <translation>(kein Wert)</translation>
  </message>
  <message>
   <source>(removed by compaction)</source>
   <translation>(durch Kompaktierung entfernt)</translation>
  </message>
  <message>
   <source>* is all of them</source>
   <translation>* sind alle</translation>
  </message>
  <message>
   <source>+{count} more</source>
   <translation>+{count} weitere</translation>
  </message>
  <message>
   <source>, and {count:,} more</source>
   <translation>, und {count:,} weitere</translation>
  </message>
  <message>
   <source>, at least {count} wanted</source>
   <translation>, wenigstens {count} verlangt</translation>
  </message>
  <message>
   <source>, depth {depth}</source>
   <translation>, Tiefe {depth}</translation>
  </message>
  <message>
   <source>, or a bookmark:</source>
   <translation>, oder ein Lesezeichen:</translation>
  </message>
  <message>
   <source>, since {time}</source>
   <translation>, seit {time}</translation>
  </message>
  <message>
   <source>, with {count} more</source>
   <translation>, und {count} weitere</translation>
  </message>
  <message>
   <source>, {failed:,} failed</source>
   <translation>, {failed:,} gescheitert</translation>
  </message>
  <message>
   <source>, {per_cell} to a cell</source>
   <translation>, {per_cell} je Zelle</translation>
  </message>
  <message>
   <source>, {time} behind</source>
   <translation>, {time} zurück</translation>
  </message>
  <message>
   <source>. Also: {names}</source>
   <translation>. Außerdem: {names}</translation>
  </message>
  <message>
   <source>/s</source>
   <translation>/s</translation>
  </message>
  <message>
   <source>0 is the most urgent; a group has none.</source>
   <translation>0 ist die dringendste; eine Gruppe hat keine.</translation>
  </message>
  <message>
   <source>1 assertion does not hold</source>
   <translation>1 Bedingung gilt nicht</translation>
  </message>
  <message>
   <source>1 byte</source>
   <translation>1 Byte</translation>
  </message>
  <message>
   <source>1 consumer</source>
   <translation>1 Consumer</translation>
  </message>
  <message>
   <source>1 dead letter</source>
   <translation>1 Dead Letter</translation>
  </message>
  <message>
   <source>1 dead letter of {queue}</source>
   <translation>1 Dead Letter von {queue}</translation>
  </message>
  <message>
   <source>1 idle consumer</source>
   <translation>1 ruhender Consumer</translation>
  </message>
  <message>
   <source>1 member</source>
   <translation>1 Mitglied</translation>
  </message>
  <message>
   <source>1 message</source>
   <translation>1 Nachricht</translation>
  </message>
  <message>
   <source>1 offset</source>
   <translation>1 Offset</translation>
  </message>
  <message>
   <source>1 partition</source>
   <translation>1 Partition</translation>
  </message>
  <message>
   <source>1 partition moves</source>
   <translation>1 Partition wechselt</translation>
  </message>
  <message>
   <source>1 partition not known</source>
   <translation>1 Partition nicht bekannt</translation>
  </message>
  <message>
   <source>1 producer</source>
   <translation>1 Producer</translation>
  </message>
  <message>
   <source>1 queue</source>
   <translation>1 Queue</translation>
  </message>
  <message>
   <source>1 s back</source>
   <translation>1 s zurück</translation>
  </message>
  <message>
   <source>1 s on</source>
   <translation>1 s weiter</translation>
  </message>
  <message>
   <source>1 stays</source>
   <translation>1 bleibt</translation>
  </message>
  <message>
   <source>1 time</source>
   <translation>einmal</translation>
  </message>
  <message>
   <source>1 time the broker was not seen for a while: what it did then is missing.</source>
   <translation>Einmal war der Broker eine Weile nicht zu sehen: Was er da tat, fehlt.</translation>
  </message>
  <message>
   <source>1 topic</source>
   <translation>1 Topic</translation>
  </message>
  <message>
   <source>1 worker</source>
   <translation>1 Worker</translation>
  </message>
  <message>
   <source>99th percentile of the latency of the last 100 requests.</source>
   <translation>99. Perzentil der Latenz der letzten 100 Requests.</translation>
  </message>
  <message>
   <source>: {slowest} is behind</source>
   <translation>: {slowest} ist zurück</translation>
  </message>
  <message>
   <source>; owner {name}</source>
   <translation>; Besitzer {name}</translation>
  </message>
  <message>
   <source>A Kafka cluster is only observed: nothing is changed, and not everything can be known from outside.</source>
   <translation>Ein Kafka-Cluster wird nur beobachtet: Nichts darin wird geändert, und nicht alles ist von außen bekannt.</translation>
  </message>
  <message>
   <source>A block of adjacent partitions for each member, topic by topic.</source>
   <translation>Ein Block benachbarter Partitionen für jeden, Topic für Topic.</translation>
  </message>
  <message>
   <source>A branch reruns the same inputs up to the moment shown, in a new session that has these messages.</source>
   <translation>Ein Zweig führt dieselben Eingaben bis zum gezeigten Moment noch einmal aus, in einer neuen Sitzung, die diese Nachrichten enthält.</translation>
  </message>
  <message>
   <source>A branch: the same as the original session up to {time} (hatched on the timeline), live from there.</source>
   <translation>Ein Zweig: bis {time} identisch mit der ursprünglichen Sitzung (auf der Zeitleiste schraffiert), danach live.</translation>
  </message>
  <message>
   <source>A broker elsewhere runs on its own time: look back on the timeline, or freeze the view (Space).</source>
   <translation>Ein Broker anderswo hat seine eigene Zeit: Auf der Zeitleiste zurückgehen oder die Ansicht anhalten (Leertaste).</translation>
  </message>
  <message>
   <source>A broker in your own process; actors; packages.</source>
   <translation>Ein Broker im eigenen Prozess; Akteure; Pakete.</translation>
  </message>
  <message>
   <source>A broker that runs elsewhere, seen from here.</source>
   <translation>Ein Broker, der anderswo läuft, wie er von hier aus zu sehen ist.</translation>
  </message>
  <message>
   <source>A build that fails three times goes to the dead letters.</source>
   <translation>Ein Build, der dreimal fehlschlägt, wird zum Dead Letter.</translation>
  </message>
  <message>
   <source>A build that fails three times lands in the dead letters.</source>
   <translation>Ein Build, der dreimal fehlschlägt, landet bei den Dead Letters.</translation>
  </message>
  <message>
   <source>A cell is a topic: its colour is lag; the higher it is filled, the worse its replication is.</source>
   <translation>Eine Zelle ist ein Topic: die Farbe ist sein Rückstand; je höher sie gefüllt ist, desto schlechter ist es repliziert.</translation>
  </message>
  <message>
   <source>A classic group reveals its members and their partitions, but not how often it has rebalanced. There may have been two rebalances between two polls. Groups of the consumer protocol reveal their epoch, so their rebalances can be counted.</source>
   <translation>Eine klassische Gruppe sagt, wer ihre Mitglieder sind und welche Partitionen sie haben, aber nicht, wie oft sie umverteilt hat. Zwischen zwei Blicken können es zwei gewesen sein. Gruppen des neuen Protokolls sagen ihre Epoche, und die wird gezählt.</translation>
  </message>
  <message>
   <source>A cluster with its own Kafka listener runs next to the window, and the window is attached to it: it sees what any program can ask a cluster, and changes nothing. Two readers bill orders. One of them leaves and comes back; the other becomes slow. Orders that cannot be billed go to orders.DLT.</source>
   <translation>Neben dem Fenster läuft ein Cluster mit eigenem Kafka-Listener, und das Fenster ist damit verbunden: Es sieht, was jedes Programm einen Cluster fragen kann, und ändert nichts. Zwei Leser stellen Bestellungen in Rechnung. Einer geht und kommt wieder, der andere wird langsam. Bestellungen, die sich nicht berechnen lassen, gehen nach orders.DLT.</translation>
  </message>
  <message>
   <source>A colour and a letter are a consumer; a dashed box is a partition without an owner.</source>
   <translation>Eine Farbe und ein Buchstabe sind ein Consumer; ein gestricheltes Kästchen ist eine Partition ohne Besitzer.</translation>
  </message>
  <message>
   <source>A command, a name, a key, a message (orders/3/17) or a time (00:31)</source>
   <translation>Befehl, Name, Schlüssel, Nachricht (orders/3/17) oder Zeit (00:31)</translation>
  </message>
  <message>
   <source>A commit is a sign of life, too. So walker-2 stays while it is busy, and is removed when it has nothing to commit.</source>
   <translation>Auch ein Commit ist ein Lebenszeichen. Deshalb bleibt walker-2, solange er beschäftigt ist, und wird entfernt, wenn er nichts zu committen hat.</translation>
  </message>
  <message>
   <source>A commit with more than 2,000 lines fails every time. The message waits one second, then two, before it is delivered again; others overtake it.</source>
   <translation>Ein Commit mit mehr als 2.000 Zeilen schlägt jedes Mal fehl. Die Nachricht wartet erst eine, dann zwei Sekunden, bevor sie erneut zugestellt wird; andere überholen sie.</translation>
  </message>
  <message>
   <source>A compacted topic is like a table: it keeps at least the latest message of each key. Twenty profiles change again and again, and one change in ten deletes a profile with a message that has no value, a tombstone. Superseded messages are removed from closed segments, which span five seconds each; the remaining ones keep their offsets, so offsets have gaps.</source>
   <translation>Ein kompaktiertes Topic ist wie eine Tabelle: Es behält mindestens die neueste Nachricht jedes Schlüssels. Zwanzig Profile ändern sich immer wieder, und jede zehnte Änderung löscht ein Profil mit einer Nachricht ohne Wert, einem Tombstone. Überholte Nachrichten werden aus geschlossenen Segmenten entfernt, die je fünf Sekunden umfassen; die übrigen behalten ihre Offsets, sodass Lücken entstehen.</translation>
  </message>
  <message>
   <source>A condition is needed.</source>
   <translation>Eine Bedingung ist nötig.</translation>
  </message>
  <message>
   <source>A condition to watch for.</source>
   <translation>Eine Bedingung, auf die geachtet wird.</translation>
  </message>
  <message>
   <source>A consumer for a group or the bench.</source>
   <translation>Ein Consumer für eine Gruppe oder die Bank.</translation>
  </message>
  <message>
   <source>A consumer that stands still is not dead, but nobody can tell the difference. At second 20, walker-1 pauses for four seconds, less than its session timeout, and only its lag rises. At second 50 it pauses for fifteen seconds. The group gives its partitions to others, and when it wakes up, it works on as if they were still its own, until its commit is refused. At seconds 90 and 120 only walker-2's heartbeats are lost, once while it is busy and once while it has nothing to do.</source>
   <translation>Ein Consumer, der stillsteht, ist nicht tot, aber niemand kann den Unterschied erkennen. In Sekunde 20 pausiert walker-1 vier Sekunden, kürzer als sein Session-Timeout, und nur sein Rückstand wächst. In Sekunde 50 pausiert er fünfzehn Sekunden. Die Gruppe gibt seine Partitionen anderen, und als er aufwacht, arbeitet er weiter, als gehörten sie noch ihm, bis sein Commit abgelehnt wird. In den Sekunden 90 und 120 gehen nur die Heartbeats von walker-2 verloren, einmal während er beschäftigt ist und einmal während er nichts zu tun hat.</translation>
  </message>
  <message>
   <source>A copy of the selected client.</source>
   <translation>Eine Kopie des ausgewählten Clients.</translation>
  </message>
  <message>
   <source>A crash costs both groups the session timeout of six seconds. What happens afterwards differs.</source>
   <translation>Ein Absturz kostet beide Gruppen das Session-Timeout von sechs Sekunden. Was danach geschieht, unterscheidet sich.</translation>
  </message>
  <message>
   <source>A crashed reader does not say goodbye. Its partition gets a new owner only once its session has timed out.</source>
   <translation>Ein abgestürzter Leser meldet sich nicht ab. Seine Partition bekommt erst einen neuen Besitzer, wenn sein Session-Timeout abgelaufen ist.</translation>
  </message>
  <message>
   <source>A dead letter, like all in this list.</source>
   <translation>Ein Dead Letter, wie alle in dieser Liste.</translation>
  </message>
  <message>
   <source>A deployment restarts one consumer after the other, each in 30 seconds. How long must the session timeout be?</source>
   <translation>Ein Deployment startet einen Consumer nach dem anderen neu, jeden in 30 Sekunden. Wie lang muss das Session-Timeout sein?</translation>
  </message>
  <message>
   <source>A depth limit counts the messages that the slowest reader has not finished. It applies from now on.</source>
   <translation>Eine Tiefengrenze zählt die Nachrichten, die der langsamste Leser noch nicht erledigt hat. Sie gilt ab jetzt.</translation>
  </message>
  <message>
   <source>A desktop workbench for message brokers. Apache License 2.0.</source>
   <translation>Eine Desktop-Werkbank für Message-Broker. Apache-Lizenz 2.0.</translation>
  </message>
  <message>
   <source>A file for pytest that replays this session.</source>
   <translation>Eine Datei für pytest, die diese Sitzung wiederholt.</translation>
  </message>
  <message>
   <source>A filter has at most {count:,} characters; make it shorter.</source>
   <translation>Ein Filter darf höchstens {count:,} Zeichen haben; bitte kürzen.</translation>
  </message>
  <message>
   <source>A finer key (customer and hour, for example) spreads the load. Which order do you give up for it?</source>
   <translation>Ein feinerer Schlüssel (zum Beispiel Kunde und Stunde) verteilt die Last. Welche Reihenfolge gibt man dafür auf?</translation>
  </message>
  <message>
   <source>A full disk, and a wrong clock</source>
   <translation>Eine volle Platte und eine falsche Uhr</translation>
  </message>
  <message>
   <source>A group does not read while it rebalances.</source>
   <translation>Eine Gruppe liest nicht, während sie umverteilt.</translation>
  </message>
  <message>
   <source>A group for consumers to move into.</source>
   <translation>Eine Gruppe, in die Consumer verschoben werden können.</translation>
  </message>
  <message>
   <source>A group has a lag of 500 messages. Is that too much?</source>
   <translation>Eine Gruppe hat einen Rückstand von 500 Nachrichten. Ist das zu viel?</translation>
  </message>
  <message>
   <source>A group may be configured before it is there. Who has begun to read goes on where it is.</source>
   <translation>Eine Gruppe kann konfiguriert werden, bevor es sie gibt. Wer schon liest, liest dort weiter, wo er ist.</translation>
  </message>
  <message>
   <source>A group that reads the same topics with the same assignor, without members at first.</source>
   <translation>Eine Gruppe, die dieselben Topics mit demselben Assignor liest, zunächst ohne Mitglieder.</translation>
  </message>
  <message>
   <source>A higher limit buys time, not throughput. In the end, the same share of messages is turned away, and those that wait are older.</source>
   <translation>Eine höhere Grenze bringt Zeit, aber keinen Durchsatz. Am Ende wird derselbe Anteil der Nachrichten abgewiesen, und die wartenden sind älter.</translation>
  </message>
  <message>
   <source>A job that fails for the last time while the disk is full stays in its queue until it can be stored as a dead letter.</source>
   <translation>Ein Auftrag, der zum letzten Mal fehlschlägt, während die Platte voll ist, bleibt in seiner Queue, bis er als Dead Letter gespeichert werden kann.</translation>
  </message>
  <message>
   <source>A key always goes to the same partition, and a partition has one owner in a group. So each customer's orders are packed in order. There is no order between partitions.</source>
   <translation>Ein Schlüssel kommt immer in dieselbe Partition, und eine Partition hat in einer Gruppe einen Besitzer. So werden die Bestellungen eines Kunden der Reihe nach gepackt. Zwischen Partitionen gibt es keine Reihenfolge.</translation>
  </message>
  <message>
   <source>A key of customer and hour spreads the load. What is given up for it?</source>
   <translation>Ein Schlüssel aus Kunde und Stunde verteilt die Last. Was gibt man dafür auf?</translation>
  </message>
  <message>
   <source>A log does not delete messages because they were read, nor keep them because they were not. This one keeps twenty seconds, in segments of five seconds; older segments are deleted as a whole. reader-2 is away for a minute from second 40. When it comes back, the messages it would have read first are gone.</source>
   <translation>Ein Log löscht Nachrichten nicht, weil sie gelesen wurden, und behält sie nicht, weil sie ungelesen sind. Dieses behält zwanzig Sekunden, in Segmenten von fünf Sekunden; ältere Segmente werden im Ganzen gelöscht. reader-2 ist ab Sekunde 40 eine Minute lang weg. Als er zurückkommt, sind die Nachrichten, die er zuerst gelesen hätte, nicht mehr da.</translation>
  </message>
  <message>
   <source>A long pause</source>
   <translation>Eine lange Pause</translation>
  </message>
  <message>
   <source>A message as JSON, such as {"id": 1}</source>
   <translation>Eine Nachricht als JSON, etwa {"id": 1}</translation>
  </message>
  <message>
   <source>A message fails at an indexer.</source>
   <translation>Eine Nachricht schlägt bei einem Indexer fehl.</translation>
  </message>
  <message>
   <source>A message is delivered again after a nack or an expired lease, after a crash or a rebalance before its commit, and after a reset of offsets.</source>
   <translation>Eine Nachricht wird erneut zugestellt nach einem Nack oder einer abgelaufenen Lease, nach einem Absturz oder Rebalancing vor ihrem Commit und nach dem Zurücksetzen von Offsets.</translation>
  </message>
  <message>
   <source>A message is leased to one worker at a time; messages that fail too often become dead letters.</source>
   <translation>Eine Nachricht ist immer nur an einen Worker vergeben; Nachrichten, die zu oft scheitern, werden Dead Letters.</translation>
  </message>
  <message>
   <source>A message lands here after its last attempt, with its history. Queues whose workers fail, or whose leases expire, fill this panel.</source>
   <translation>Eine Nachricht landet hier nach ihrem letzten Versuch, mit ihrer Vorgeschichte. Queues, deren Worker scheitern oder deren Leases ablaufen, füllen dieses Panel.</translation>
  </message>
  <message>
   <source>A message like the selected one.</source>
   <translation>Eine Nachricht wie die gewählte.</translation>
  </message>
  <message>
   <source>A message was dead-lettered.</source>
   <translation>Eine Nachricht wurde zum Dead Letter.</translation>
  </message>
  <message>
   <source>A message was redriven.</source>
   <translation>Eine Nachricht wurde per Redrive zurückgeschickt.</translation>
  </message>
  <message>
   <source>A middleware failed</source>
   <translation>Eine Middleware ist fehlgeschlagen</translation>
  </message>
  <message>
   <source>A new segment every</source>
   <translation>Neues Segment alle</translation>
  </message>
  <message>
   <source>A newer producer has taken over the transactional id, or its transaction timed out</source>
   <translation>Ein neuerer Producer hat die Transactional ID übernommen, oder ihre Transaktion ist abgelaufen</translation>
  </message>
  <message>
   <source>A newer producer with the same id has taken over</source>
   <translation>Ein neuerer Producer mit derselben ID hat übernommen</translation>
  </message>
  <message>
   <source>A partition can be chosen only for messages that are sent at once.</source>
   <translation>Eine Partition lässt sich nur für Nachrichten wählen, die sofort gesendet werden.</translation>
  </message>
  <message>
   <source>A partition has one owner in a consumer group. With two partitions, two members work, and the others have none.</source>
   <translation>In einer Consumer-Gruppe hat eine Partition einen Besitzer. Bei zwei Partitionen arbeiten zwei Mitglieder, und die anderen haben keine.</translation>
  </message>
  <message>
   <source>A previously recorded session.</source>
   <translation>Eine früher aufgezeichnete Sitzung.</translation>
  </message>
  <message>
   <source>A producer for a topic or queue.</source>
   <translation>Ein Producer für ein Topic oder eine Queue.</translation>
  </message>
  <message>
   <source>A producer is waiting because its target is full.</source>
   <translation>Ein Producer wartet, weil sein Ziel voll ist.</translation>
  </message>
  <message>
   <source>A producer writes the messages of a transaction as they come, between those of other producers. Whether they count is decided when the transaction ends. The navigator on the left lists open transactions.</source>
   <translation>Ein Producer schreibt die Nachrichten einer Transaktion, sobald sie kommen, zwischen die von anderen. Ob sie gelten, entscheidet sich an ihrem Ende. Der Navigator links nennt, was offen ist.</translation>
  </message>
  <message>
   <source>A queue has no partitions to own. Any free worker takes the next message on a lease; the ring around the message is the time left.</source>
   <translation>Eine Queue hat keine Partitionen, die man besitzen könnte. Jeder freie Worker nimmt die nächste Nachricht mit einer Lease; der Ring um die Nachricht zeigt die verbleibende Zeit.</translation>
  </message>
  <message>
   <source>A queue has no partitions to own: any free worker takes the next message, on a lease. If it acknowledges in time, the message is done; if not, another worker gets the message. At second 20, one painter dies while holding a message.</source>
   <translation>Eine Queue hat keine Partitionen, die man besitzen könnte: Jeder freie Worker nimmt die nächste Nachricht mit einer Lease. Bestätigt er rechtzeitig, ist die Nachricht erledigt, sonst bekommt sie ein anderer. In Sekunde 20 stirbt ein Maler, während er eine Nachricht hält.</translation>
  </message>
  <message>
   <source>A queue that gets every message of a topic.</source>
   <translation>Eine Queue, die jede Nachricht eines Topics bekommt.</translation>
  </message>
  <message>
   <source>A queue with the same settings and limits, but without the messages.</source>
   <translation>Eine Queue mit denselben Einstellungen und Grenzen, aber ohne die Nachrichten.</translation>
  </message>
  <message>
   <source>A queue's message appears here while a worker holds it, until it is acknowledged or its lease expires; a group's message from its delivery until it is committed. {goes_on}</source>
   <translation>Die Nachricht einer Queue erscheint hier, solange ein Worker sie hält, also bis sie bestätigt ist oder ihre Lease abläuft; die einer Gruppe von der Zustellung bis zum Commit. {goes_on}</translation>
  </message>
  <message>
   <source>A real cluster, seen exactly and disturbed.</source>
   <translation>Ein echter Cluster, genau gesehen und gestört.</translation>
  </message>
  <message>
   <source>A recorded session is read-only.</source>
   <translation>Eine aufgezeichnete Sitzung lässt sich nicht ändern.</translation>
  </message>
  <message>
   <source>A recorded session is read-only. Branch here (Ctrl+B) to continue from it.</source>
   <translation>Eine aufgezeichnete Sitzung lässt sich nicht ändern. Hier abzweigen (Strg+B), um von ihr aus weiterzumachen.</translation>
  </message>
  <message>
   <source>A recorded session. Branch here (Ctrl+B) to continue from this moment.</source>
   <translation>Eine aufgezeichnete Sitzung. Hier abzweigen (Strg+B), um von diesem Moment aus weiterzumachen.</translation>
  </message>
  <message>
   <source>A recording contains the events of messages, not the messages.</source>
   <translation>Eine Aufzeichnung enthält die Ereignisse der Nachrichten, nicht die Nachrichten selbst.</translation>
  </message>
  <message>
   <source>A recording contains the events of messages, not the messages. {why}</source>
   <translation>Eine Aufzeichnung enthält die Ereignisse der Nachrichten, nicht die Nachrichten. {why}</translation>
  </message>
  <message>
   <source>A recording contains the events of messages, not the messages: start it again (Ctrl+R) to see them.</source>
   <translation>Eine Aufzeichnung enthält die Ereignisse der Nachrichten, nicht die Nachrichten selbst: neu starten (Strg+R), um sie zu sehen.</translation>
  </message>
  <message>
   <source>A report in progress appears here: Export report... (Ctrl+E).</source>
   <translation>Ein laufender Bericht erscheint hier: Bericht exportieren... (Strg+E).</translation>
  </message>
  <message>
   <source>A request over the quota is answered at once, but the next one waits.</source>
   <translation>Eine Anfrage darüber hinaus wird sofort beantwortet, die nächste wartet.</translation>
  </message>
  <message>
   <source>A ring is a message in flight, in the colour of its worker.</source>
   <translation>Ein Ring ist eine Nachricht in Arbeit, in der Farbe ihres Workers.</translation>
  </message>
  <message>
   <source>A session</source>
   <translation>Eine Sitzung</translation>
  </message>
  <message>
   <source>A session has at most {count:,} bookmarks; remove some first.</source>
   <translation>Eine Sitzung hat höchstens {count:,} Lesezeichen; erst einige entfernen.</translation>
  </message>
  <message>
   <source>A session time, such as 00:42 or 42.5</source>
   <translation>Eine Sitzungszeit, etwa 00:42 oder 42.5</translation>
  </message>
  <message>
   <source>A share group has no owners. Any free member takes the next message of any partition and locks it; the ring around the message is the time left on the lock.</source>
   <translation>Eine Share-Gruppe kennt keine Besitzer. Jedes freie Mitglied nimmt die nächste Nachricht einer beliebigen Partition und sperrt sie; der Ring um die Nachricht zeigt, wie lange die Sperre noch gilt.</translation>
  </message>
  <message>
   <source>A shift of 0 changes nothing.</source>
   <translation>Eine Verschiebung um 0 ändert nichts.</translation>
  </message>
  <message>
   <source>A shop and a bank put payments into one topic in transactions. The shop commits three out of four and aborts the fourth. Two groups read the same partitions: one takes every message as it comes (read_uncommitted), the other only committed messages (read_committed). At second 31 the bank crashes in the middle of a transaction. Until the broker aborts the transaction, fifteen seconds after it began, read_committed sees nothing beyond the last stable offset of its partitions.</source>
   <translation>Ein Laden und eine Bank schreiben Zahlungen in Transaktionen in ein Topic. Der Laden schließt drei von vier ab und bricht die vierte ab. Zwei Gruppen lesen dieselben Partitionen: Die eine nimmt jede Nachricht, wie sie kommt (read_uncommitted), die andere nur abgeschlossene (read_committed). In Sekunde 31 stürzt die Bank mitten in einer Transaktion ab. Bis der Broker die Transaktion fünfzehn Sekunden nach ihrem Beginn abbricht, sieht read_committed nichts jenseits des letzten stabilen Offsets ihrer Partitionen.</translation>
  </message>
  <message>
   <source>A single HTML file with the canvas, the timeline, figures and charts for every second. Anyone can open it with a double click, without Brokerscope. Payloads are not included.</source>
   <translation>Eine einzelne HTML-Datei mit Zeichenfläche, Zeitleiste, Kennzahlen und Diagrammen für jede Sekunde. Jeder kann sie mit einem Doppelklick öffnen, auch ohne Brokerscope. Payloads sind nicht enthalten.</translation>
  </message>
  <message>
   <source>A single customer sends half of all orders. Do more packers help?</source>
   <translation>Ein einziger Kunde schickt die Hälfte aller Bestellungen. Helfen mehr Packer?</translation>
  </message>
  <message>
   <source>A single file that anyone can open and scrub through in a browser.</source>
   <translation>Eine einzelne Datei, die jeder im Browser öffnen und durchsuchen kann.</translation>
  </message>
  <message>
   <source>A single file with every moment that was seen, which anyone can open in a browser, without a cluster or a network.</source>
   <translation>Eine einzelne Datei mit jedem Moment, der zu sehen war; jeder kann sie im Browser öffnen, ohne Cluster und ohne Netz.</translation>
  </message>
  <message>
   <source>A small scenario to start from.</source>
   <translation>Ein kleines Szenario für den Anfang.</translation>
  </message>
  <message>
   <source>A time is mm:ss, or a number of seconds.</source>
   <translation>Eine Zeit ist mm:ss oder eine Zahl von Sekunden.</translation>
  </message>
  <message>
   <source>A time such as 00:42, or a bookmark's name.</source>
   <translation>Eine Zeit wie 00:42 oder der Name eines Lesezeichens.</translation>
  </message>
  <message>
   <source>A token bucket lets messages pass at a certain rate, plus a burst: tokens drip in, and each message takes one. The topic accepts 20 messages a second from all producers together; miser also limits itself to 2 a second, in pairs. The two eager producers ramp up from nothing to twice what the topic accepts.</source>
   <translation>Ein Token-Bucket lässt Nachrichten mit einer bestimmten Rate durch, dazu einen Schub: Token tropfen hinein, und jede Nachricht nimmt eines. Das Topic nimmt von allen Producern zusammen 20 Nachrichten pro Sekunde an; miser beschränkt sich außerdem selbst auf 2 pro Sekunde, paarweise. Die beiden eifrigen Producer steigern sich von nichts auf das Doppelte dessen, was das Topic annimmt.</translation>
  </message>
  <message>
   <source>A topic consists of partitions, and messages are in order only within one partition. shop uses the customer as the key of each order, so all orders of a customer end up in one partition, in order. sensor uses no key: its readings are spread over all partitions, a few at a time.</source>
   <translation>Ein Topic besteht aus Partitionen, und nur innerhalb einer Partition stehen Nachrichten in einer Reihenfolge. shop nimmt den Kunden als Schlüssel jeder Bestellung, sodass alle Bestellungen eines Kunden der Reihe nach in einer Partition liegen. sensor hat keinen Schlüssel: Seine Messwerte verteilen sich auf alle Partitionen, immer ein paar auf einmal.</translation>
  </message>
  <message>
   <source>A topic or queue with a limit appears here as a gauge. Set one with Limits... (Ctrl+Alt+M).</source>
   <translation>Ein Topic oder eine Queue mit einer Grenze erscheint hier als Anzeige. Mit Grenzen... (Strg+Alt+M) setzen Sie eine.</translation>
  </message>
  <message>
   <source>A topic with some partitions.</source>
   <translation>Ein Topic mit einigen Partitionen.</translation>
  </message>
  <message>
   <source>A topic with the same number of partitions and the same limits, but without the messages.</source>
   <translation>Ein Topic mit gleich vielen Partitionen und denselben Grenzen, aber ohne die Nachrichten.</translation>
  </message>
  <message>
   <source>A work queue with leases.</source>
   <translation>Eine Work Queue mit Leases.</translation>
  </message>
  <message>
   <source>A worker for a queue.</source>
   <translation>Ein Worker für eine Queue.</translation>
  </message>
  <message>
   <source>A worker takes a build on a lease. If it fails, the build waits half a second and is delivered again; after the third attempt it goes to the dead letters, so that it does not hold up the others.</source>
   <translation>Ein Worker nimmt einen Build mit einer Lease. Schlägt der Build fehl, wartet er eine halbe Sekunde und wird erneut zugestellt; nach dem dritten Versuch wird er zum Dead Letter, damit er die anderen nicht aufhält.</translation>
  </message>
  <message>
   <source>ACL</source>
   <translation>ACL</translation>
  </message>
  <message>
   <source>ACLs, quotas and users.</source>
   <translation>Wer was darf und wie viel: ACLs, Quotas und Benutzer.</translation>
  </message>
  <message>
   <source>API</source>
   <translation>API</translation>
  </message>
  <message>
   <source>ATTACHED {where}</source>
   <translation>VERBUNDEN MIT {where}</translation>
  </message>
  <message>
   <source>ATTACHED, not seen for {time}</source>
   <translation>VERBUNDEN, seit {time} nicht gesehen</translation>
  </message>
  <message>
   <source>Aborted</source>
   <translation>Abgebrochen</translation>
  </message>
  <message>
   <source>Aborted in</source>
   <translation>Abgebrochen in</translation>
  </message>
  <message>
   <source>Aborted, passed over</source>
   <translation>Abgebrochen, übergangen</translation>
  </message>
  <message>
   <source>About</source>
   <translation>Über</translation>
  </message>
  <message>
   <source>About Brokerscope</source>
   <translation>Über Brokerscope</translation>
  </message>
  <message>
   <source>Above the letters: how the name of each group begins.</source>
   <translation>Über den Buchstaben: der Anfang jedes Gruppennamens.</translation>
  </message>
  <message>
   <source>Accepted.</source>
   <translation>Angenommen.</translation>
  </message>
  <message>
   <source>Access</source>
   <translation>Zugriff</translation>
  </message>
  <message>
   <source>Access is denied</source>
   <translation>Der Zugriff ist verweigert</translation>
  </message>
  <message>
   <source>Access...</source>
   <translation>Zugriff...</translation>
  </message>
  <message>
   <source>Account of every message</source>
   <translation>Verbleib jeder Nachricht</translation>
  </message>
  <message>
   <source>Accounts for every message.</source>
   <translation>Prüft den Verbleib jeder Nachricht.</translation>
  </message>
  <message>
   <source>Acknowledge</source>
   <translation>Bestätigen</translation>
  </message>
  <message>
   <source>Acknowledged</source>
   <translation>Bestätigt</translation>
  </message>
  <message>
   <source>Acknowledged before</source>
   <translation>Vorher bestätigt</translation>
  </message>
  <message>
   <source>Acknowledged on behalf of the holder.</source>
   <translation>Stellvertretend für den Halter bestätigt.</translation>
  </message>
  <message>
   <source>Acknowledgement, p99</source>
   <translation>Bestätigung, p99</translation>
  </message>
  <message>
   <source>Acquired (session time)</source>
   <translation>Übernommen (Sitzungszeit)</translation>
  </message>
  <message>
   <source>Actions</source>
   <translation>Aktionen</translation>
  </message>
  <message>
   <source>Active</source>
   <translation>Aktiv</translation>
  </message>
  <message>
   <source>Active fault</source>
   <translation>Aktive Störung</translation>
  </message>
  <message>
   <source>Adaptive producer</source>
   <translation>Anpassungsfähiger Producer</translation>
  </message>
  <message>
   <source>Add</source>
   <translation>Hinzufügen</translation>
  </message>
  <message>
   <source>Add bookmark</source>
   <translation>Lesezeichen setzen</translation>
  </message>
  <message>
   <source>Add consumer</source>
   <translation>Consumer hinzufügen</translation>
  </message>
  <message>
   <source>Add consumer...</source>
   <translation>Consumer hinzufügen...</translation>
  </message>
  <message>
   <source>Add partitions to {topic}</source>
   <translation>Partitionen zu {topic} hinzufügen</translation>
  </message>
  <message>
   <source>Add partitions...</source>
   <translation>Partitionen hinzufügen...</translation>
  </message>
  <message>
   <source>Add producer</source>
   <translation>Producer hinzufügen</translation>
  </message>
  <message>
   <source>Add producer...</source>
   <translation>Producer hinzufügen...</translation>
  </message>
  <message>
   <source>Add worker</source>
   <translation>Worker hinzufügen</translation>
  </message>
  <message>
   <source>Add worker...</source>
   <translation>Worker hinzufügen...</translation>
  </message>
  <message>
   <source>Added at {place}: {after}</source>
   <translation>Hinzugekommen bei {place}: {after}</translation>
  </message>
  <message>
   <source>Address</source>
   <translation>Adresse</translation>
  </message>
  <message>
   <source>Advance</source>
   <translation>Vorstellen</translation>
  </message>
  <message>
   <source>Advance the broker's clock</source>
   <translation>Uhr des Brokers vorstellen</translation>
  </message>
  <message>
   <source>Advance the clock...</source>
   <translation>Uhr vorstellen...</translation>
  </message>
  <message>
   <source>After</source>
   <translation>Nachher</translation>
  </message>
  <message>
   <source>After a crash, messages that were polled but not committed are lost or repeated. With fewer messages per poll, fewer are affected, but there are more commits.</source>
   <translation>Nach einem Absturz gehen Nachrichten, die geholt, aber noch nicht committet waren, verloren oder werden wiederholt. Bei weniger Nachrichten je Poll sind weniger betroffen, dafür gibt es mehr Commits.</translation>
  </message>
  <message>
   <source>After half a minute billing-2 leaves, and its partitions go to billing-1.</source>
   <translation>Nach einer halben Minute verlässt billing-2 die Gruppe, und billing-1 bekommt seine Partitionen.</translation>
  </message>
  <message>
   <source>After its third attempt it goes to the dead letters.</source>
   <translation>Nach dem dritten Versuch wird sie zum Dead Letter.</translation>
  </message>
  <message>
   <source>After {words} a value is missing.</source>
   <translation>Nach {words} fehlt ein Wert.</translation>
  </message>
  <message>
   <source>After {words} comes an operator, such as =.</source>
   <translation>Nach {words} kommt ein Operator, etwa =.</translation>
  </message>
  <message>
   <source>After ~ comes the name of a flag, as in ~dlq.</source>
   <translation>Nach ~ kommt der Name eines Merkmals, etwa ~dlq.</translation>
  </message>
  <message>
   <source>Age</source>
   <translation>Alter</translation>
  </message>
  <message>
   <source>Age of the oldest message that is not committed.</source>
   <translation>Alter der ältesten nicht committeten Nachricht.</translation>
  </message>
  <message>
   <source>Alert</source>
   <translation>Alarm</translation>
  </message>
  <message>
   <source>Alert at {at}, over at {over}: {condition}</source>
   <translation>Alarm um {at}, vorbei um {over}: {condition}</translation>
  </message>
  <message>
   <source>Alert at {at}: {condition}</source>
   <translation>Alarm bei {at}: {condition}</translation>
  </message>
  <message>
   <source>Alert over</source>
   <translation>Alarm vorbei</translation>
  </message>
  <message>
   <source>Alert: {cause}</source>
   <translation>Alarm: {cause}</translation>
  </message>
  <message>
   <source>Alerts</source>
   <translation>Alarme</translation>
  </message>
  <message>
   <source>All</source>
   <translation>Alle</translation>
  </message>
  <message>
   <source>All causes</source>
   <translation>Alle Ursachen</translation>
  </message>
  <message>
   <source>All charts</source>
   <translation>Alle Diagramme</translation>
  </message>
  <message>
   <source>All events</source>
   <translation>Alle Ereignisse</translation>
  </message>
  <message>
   <source>All events, in order.</source>
   <translation>Alle Ereignisse der Reihe nach.</translation>
  </message>
  <message>
   <source>All faults of a client end together; each rule ends separately.</source>
   <translation>Alle Störungen eines Clients enden gemeinsam; jede Regel endet für sich.</translation>
  </message>
  <message>
   <source>All its members rejoin and also share out the topic's partitions.</source>
   <translation>Alle Mitglieder treten neu bei und teilen auch die Partitionen des Topics auf.</translation>
  </message>
  <message>
   <source>All keys, by menu.</source>
   <translation>Alle Tasten, nach Menü.</translation>
  </message>
  <message>
   <source>All listed dead letters.</source>
   <translation>Alle aufgelisteten Dead Letters.</translation>
  </message>
  <message>
   <source>All members of classic give up their partitions before they rejoin, and they wait for old-1, which is slow and still working on messages. Meanwhile, nobody reads. In modern, the others keep reading.</source>
   <translation>Alle Mitglieder von classic geben ihre Partitionen ab, bevor sie neu beitreten, und warten auf old-1, das langsam ist und noch Nachrichten verarbeitet. Solange liest niemand. In modern lesen die anderen weiter.</translation>
  </message>
  <message>
   <source>All members of classic rejoined. The card on the right says what moved, and for how long nobody read.</source>
   <translation>Alle Mitglieder von classic sind neu beigetreten. Die Karte rechts zeigt, was den Besitzer gewechselt hat und wie lange niemand las.</translation>
  </message>
  <message>
   <source>All of this line</source>
   <translation>Die ganze Zeile</translation>
  </message>
  <message>
   <source>All partitions</source>
   <translation>Alle Partitionen</translation>
  </message>
  <message>
   <source>All parts of the report</source>
   <translation>Alle Teile des Berichts</translation>
  </message>
  <message>
   <source>All scenarios, with what each teaches.</source>
   <translation>Alle Szenarien und was man jeweils lernt.</translation>
  </message>
  <message>
   <source>All written as</source>
   <translation>Alles geschrieben als</translation>
  </message>
  <message>
   <source>All {count} characters are kept; the first {shown} are shown. This is too long to edit here.</source>
   <translation>Alle {count} Zeichen bleiben erhalten; zu sehen sind die ersten {shown}. Zum Bearbeiten ist der Text hier zu lang.</translation>
  </message>
  <message>
   <source>Also</source>
   <translation>Außerdem</translation>
  </message>
  <message>
   <source>Also those that came back after a redrive</source>
   <translation>Auch die, die nach einem Zurückführen wiederkamen</translation>
  </message>
  <message>
   <source>An alert is a named condition. Parcels come in bursts of six seconds. Two alerts watch the same group: one is raised as soon as its lag is above 80, the other only when it has been above 80 for ten seconds. At second 46, one packer slows down to a quarter of its speed.</source>
   <translation>Ein Alarm ist eine benannte Bedingung. Pakete kommen in Schüben von sechs Sekunden. Zwei Alarme beobachten dieselbe Gruppe: Der eine wird ausgelöst, sobald ihr Rückstand über 80 liegt, der andere erst, wenn er zehn Sekunden lang darüber lag. In Sekunde 46 wird ein Packer auf ein Viertel seines Tempos langsam.</translation>
  </message>
  <message>
   <source>An existing report is replaced.</source>
   <translation>Ein vorhandener Bericht wird ersetzt.</translation>
  </message>
  <message>
   <source>An open transaction is about to commit the offset; try again</source>
   <translation>Eine offene Transaktion ist dabei, den Offset zu committen; versuchen Sie es noch einmal</translation>
  </message>
  <message>
   <source>An order that fails does not hold up those behind it.</source>
   <translation>Eine Bestellung, die fehlschlägt, hält die dahinter nicht auf.</translation>
  </message>
  <message>
   <source>And every name that begins with it</source>
   <translation>Und alles, was damit beginnt</translation>
  </message>
  <message>
   <source>Another folder...</source>
   <translation>Anderer Ordner...</translation>
  </message>
  <message>
   <source>Another member still uses the same group instance id</source>
   <translation>Ein anderes Mitglied benutzt noch dieselbe Group Instance ID</translation>
  </message>
  <message>
   <source>Another member uses the same group instance id</source>
   <translation>Ein anderes Mitglied benutzt dieselbe Group Instance ID</translation>
  </message>
  <message>
   <source>Another one of the same kind.</source>
   <translation>Noch einer von derselben Art.</translation>
  </message>
  <message>
   <source>Another program, publishes to {target}</source>
   <translation>Ein anderes Programm, sendet an {target}</translation>
  </message>
  <message>
   <source>Another run of it.</source>
   <translation>Einen weiteren Lauf.</translation>
  </message>
  <message>
   <source>Another scenario is open.</source>
   <translation>Ein anderes Szenario ist offen.</translation>
  </message>
  <message>
   <source>Another schema refers to it</source>
   <translation>Ein anderes Schema verweist darauf</translation>
  </message>
  <message>
   <source>Any header, as name: value.</source>
   <translation>Ein beliebiger Header, als Name: Wert.</translation>
  </message>
  <message>
   <source>Any number of recordings</source>
   <translation>Beliebig viele Aufzeichnungen</translation>
  </message>
  <message>
   <source>Any two recorded sessions.</source>
   <translation>Zwei beliebige aufgezeichnete Sitzungen.</translation>
  </message>
  <message>
   <source>Anything that a cluster does not reveal is marked as not known from outside. It is never shown as 0.</source>
   <translation>Was ein Cluster nicht preisgibt, ist als von außen nicht bekannt gekennzeichnet. Es wird nie als 0 gezeigt.</translation>
  </message>
  <message>
   <source>Apply</source>
   <translation>Anwenden</translation>
  </message>
  <message>
   <source>Arrange by hand</source>
   <translation>Manuell anordnen</translation>
  </message>
  <message>
   <source>Arrange by itself</source>
   <translation>Automatisch anordnen</translation>
  </message>
  <message>
   <source>As fast as possible.</source>
   <translation>So schnell wie möglich.</translation>
  </message>
  <message>
   <source>As it was at {time}.</source>
   <translation>So war es bei {time}.</translation>
  </message>
  <message>
   <source>As {principal}, dead letters can then be redriven, and offsets of groups without members set: each after a preview, and written down. Nothing else becomes possible. It locks itself again after 15 minutes.</source>
   <translation>Als {principal} können dann Dead Letters zurückgeführt und Offsets von Gruppen ohne Mitglieder gesetzt werden: jeweils nach einer Vorschau, und aufgeschrieben. Sonst wird nichts möglich. Nach 15 Minuten sperrt er sich wieder.</translation>
  </message>
  <message>
   <source>Ask whether anything was lost (Ctrl+Shift+L).</source>
   <translation>Fragen, ob etwas verloren ging (Strg+Umschalt+L).</translation>
  </message>
  <message>
   <source>Assertions</source>
   <translation>Zusicherungen</translation>
  </message>
  <message>
   <source>Assignments</source>
   <translation>Zuordnungen</translation>
  </message>
  <message>
   <source>Assignor</source>
   <translation>Assignor</translation>
  </message>
  <message>
   <source>Assignors of {group}</source>
   <translation>Assignors von {group}</translation>
  </message>
  <message>
   <source>At</source>
   <translation>Um</translation>
  </message>
  <message>
   <source>At min.insync</source>
   <translation>Gerade min.insync</translation>
  </message>
  <message>
   <source>At most</source>
   <translation>Höchstens</translation>
  </message>
  <message>
   <source>At most (per s)</source>
   <translation>Höchstens (pro s)</translation>
  </message>
  <message>
   <source>At most once, at least once, effectively once</source>
   <translation>Höchstens einmal, mindestens einmal, im Ergebnis einmal</translation>
  </message>
  <message>
   <source>At most {most} can be sent at once; set a rate for more.</source>
   <translation>Höchstens {most} lassen sich auf einmal senden; für mehr eine Rate angeben.</translation>
  </message>
  <message>
   <source>At most {rate} messages/s</source>
   <translation>Höchstens {rate} Nachrichten/s</translation>
  </message>
  <message>
   <source>At opening</source>
   <translation>Beim Öffnen</translation>
  </message>
  <message>
   <source>At second 20 a fourth member joins, and classic stands still.</source>
   <translation>In Sekunde 20 kommt ein viertes Mitglied, und classic steht still.</translation>
  </message>
  <message>
   <source>At second 20 stranger-1 and regular-1 are killed.</source>
   <translation>In Sekunde 20 werden stranger-1 und regular-1 abgeschossen.</translation>
  </message>
  <message>
   <source>At second 20 the reader of each group crashes.</source>
   <translation>In Sekunde 20 stürzt der Leser jeder Gruppe ab.</translation>
  </message>
  <message>
   <source>At second 20, a member of each group dies. floor carries on at once, and only one message waits until its lock expires; in lines, a partition waits for a new owner.</source>
   <translation>In Sekunde 20 stirbt in jeder Gruppe ein Mitglied. floor macht sofort weiter, und nur eine Nachricht wartet, bis ihre Sperre abläuft; in lines wartet eine Partition auf einen neuen Besitzer.</translation>
  </message>
  <message>
   <source>At second 20, floor-2 dies while holding a message.</source>
   <translation>In Sekunde 20 stürzt floor-2 ab, während es eine Nachricht hält.</translation>
  </message>
  <message>
   <source>At second 20, painter-2 dies while holding a message.</source>
   <translation>In Sekunde 20 stürzt painter-2 ab, während es eine Nachricht hält.</translation>
  </message>
  <message>
   <source>At second 25, regular-1 is back, without a rebalance.</source>
   <translation>In Sekunde 25 ist regular-1 zurück, ohne Rebalance.</translation>
  </message>
  <message>
   <source>At second 30 the first member of each group crashes; at 60 it is back. Compare how many partitions move.</source>
   <translation>In Sekunde 30 stürzt das erste Mitglied jeder Gruppe ab, in Sekunde 60 ist es wieder da. Vergleichen Sie, wie viele Partitionen wandern.</translation>
  </message>
  <message>
   <source>At second 30, the broker's disk is full, and for twenty seconds nothing can be written. Producers get a clean error and try again; consumers keep reading what is stored. At second 80, somebody sets the machine's clock back by a day, and at second 90 forward by two. This has no effect: leases, sessions and retries use a clock that only moves forward.</source>
   <translation>In Sekunde 30 ist die Platte des Brokers voll, und zwanzig Sekunden lang lässt sich nichts schreiben. Producer bekommen einen klaren Fehler und versuchen es erneut; Consumer lesen weiter, was gespeichert ist. In Sekunde 80 stellt jemand die Uhr der Maschine um einen Tag zurück, in Sekunde 90 um zwei vor. Das bleibt ohne Wirkung: Leases, Sessions und Wiederholungen benutzen eine Uhr, die nur vorwärts geht.</translation>
  </message>
  <message>
   <source>At second 31 the bank crashes in the middle of a transaction.</source>
   <translation>In Sekunde 31 stürzt bank mitten in einer Transaktion ab.</translation>
  </message>
  <message>
   <source>At second 4 all five queues are full.</source>
   <translation>In Sekunde 4 sind alle fünf Queues voll.</translation>
  </message>
  <message>
   <source>At second 46 both groups give up a member that has crashed.</source>
   <translation>In Sekunde 46 entfernen beide Gruppen ein abgestürztes Mitglied.</translation>
  </message>
  <message>
   <source>At second 46 packer-1 slows down. Some seconds later "packers fall behind" is raised.</source>
   <translation>In Sekunde 46 wird packer-1 langsamer. Einige Sekunden später wird „packers fall behind“ ausgelöst.</translation>
  </message>
  <message>
   <source>At second 46 the group gives reader-2's partitions to reader-1, which cannot keep up alone; it falls behind the start of the log, and from then on messages are lost unread. You notice only if you compare the offsets.</source>
   <translation>In Sekunde 46 gibt die Gruppe die Partitionen von reader-2 an reader-1, der allein nicht mithalten kann; er fällt hinter den Anfang des Logs zurück, und von da an gehen Nachrichten ungelesen verloren. Das bemerkt nur, wer die Offsets vergleicht.</translation>
  </message>
  <message>
   <source>At second 60, clerk-2 slows down to a third of its speed.</source>
   <translation>In Sekunde 60 arbeitet clerk-2 nur noch mit einem Drittel der Geschwindigkeit.</translation>
  </message>
  <message>
   <source>At this moment the message is not published yet.</source>
   <translation>In diesem Moment ist die Nachricht noch nicht veröffentlicht.</translation>
  </message>
  <message>
   <source>Attach</source>
   <translation>Verbinden</translation>
  </message>
  <message>
   <source>Attach to a Kafka cluster to see its nodes.</source>
   <translation>Verbinden Sie sich mit einem Kafka-Cluster, um seine Knoten zu sehen.</translation>
  </message>
  <message>
   <source>Attach to your own cluster: Session &gt; Attach... (Ctrl+Shift+A), or brokerscope attach HOST:PORT.</source>
   <translation>Mit dem eigenen Cluster verbinden: Sitzung &gt; Verbinden... (Strg+Umschalt+A) oder brokerscope attach HOST:PORT.</translation>
  </message>
  <message>
   <source>Attach...</source>
   <translation>Verbinden...</translation>
  </message>
  <message>
   <source>Attached to {where}.</source>
   <translation>Verbunden mit {where}.</translation>
  </message>
  <message>
   <source>Attempt</source>
   <translation>Versuch</translation>
  </message>
  <message>
   <source>Attempts</source>
   <translation>Versuche</translation>
  </message>
  <message>
   <source>Attempts ({count})</source>
   <translation>Versuche ({count})</translation>
  </message>
  <message>
   <source>Attempts at most</source>
   <translation>Versuche höchstens</translation>
  </message>
  <message>
   <source>Authentication failed</source>
   <translation>Die Anmeldung ist fehlgeschlagen</translation>
  </message>
  <message>
   <source>BETWEEN {listens}</source>
   <translation>DAZWISCHEN {listens}</translation>
  </message>
  <message>
   <source>BETWEEN, DISTURBED</source>
   <translation>DAZWISCHEN, GESTÖRT</translation>
  </message>
  <message>
   <source>BETWEEN, cluster not seen for {time}</source>
   <translation>DAZWISCHEN, Cluster seit {time} nicht gesehen</translation>
  </message>
  <message>
   <source>BRANCH</source>
   <translation>ZWEIG</translation>
  </message>
  <message>
   <source>BRANCH, {state}</source>
   <translation>ZWEIG, {state}</translation>
  </message>
  <message>
   <source>Back</source>
   <translation>Zurück</translation>
  </message>
  <message>
   <source>Back 1 s</source>
   <translation>1 s zurück</translation>
  </message>
  <message>
   <source>Back 10 s</source>
   <translation>10 s zurück</translation>
  </message>
  <message>
   <source>Back in the inspector</source>
   <translation>Zurück im Inspektor</translation>
  </message>
  <message>
   <source>Back to the present.</source>
   <translation>Zurück in die Gegenwart.</translation>
  </message>
  <message>
   <source>Back to their origin.</source>
   <translation>Zurück an ihren Ursprung.</translation>
  </message>
  <message>
   <source>Backpressure</source>
   <translation>Backpressure</translation>
  </message>
  <message>
   <source>Backpressure policies</source>
   <translation>Regeln bei Backpressure</translation>
  </message>
  <message>
   <source>Balanced, and keeps as many partitions as possible with their owners.</source>
   <translation>Gleichmäßig, und wer eine hat, behält sie.</translation>
  </message>
  <message>
   <source>Base offset</source>
   <translation>Basis-Offset</translation>
  </message>
  <message>
   <source>Base64</source>
   <translation>Base64</translation>
  </message>
  <message>
   <source>Batches</source>
   <translation>Batches</translation>
  </message>
  <message>
   <source>Became</source>
   <translation>Ergebnis</translation>
  </message>
  <message>
   <source>Before it began</source>
   <translation>Vor seinem Beginn</translation>
  </message>
  <message>
   <source>Before to</source>
   <translation>Vorher an</translation>
  </message>
  <message>
   <source>Before {words} comes the name of a field.</source>
   <translation>Vor {words} steht der Name eines Feldes.</translation>
  </message>
  <message>
   <source>Begin at</source>
   <translation>Beginnen bei</translation>
  </message>
  <message>
   <source>Behind</source>
   <translation>Rückstand</translation>
  </message>
  <message>
   <source>Below min.insync</source>
   <translation>Unter min.insync</translation>
  </message>
  <message>
   <source>Below offset</source>
   <translation>Unter Offset</translation>
  </message>
  <message>
   <source>Bench</source>
   <translation>Bank</translation>
  </message>
  <message>
   <source>Bench, {members}</source>
   <translation>Bank, {members}</translation>
  </message>
  <message>
   <source>Between</source>
   <translation>Dazwischen</translation>
  </message>
  <message>
   <source>Between attempts the message waits, first one second, then two; meanwhile others overtake it.</source>
   <translation>Zwischen den Versuchen wartet die Nachricht, erst eine Sekunde, dann zwei; derweil überholen sie andere.</translation>
  </message>
  <message>
   <source>Beyond that, the oldest are removed, but never one that was named, bookmarked, opened or used.</source>
   <translation>Darüber hinaus werden die ältesten entfernt, aber nie eine, die benannt, mit Lesezeichen versehen, geöffnet oder benutzt wurde.</translation>
  </message>
  <message>
   <source>Blocked</source>
   <translation>Blockiert</translation>
  </message>
  <message>
   <source>Blocked producers</source>
   <translation>Blockierte Producer</translation>
  </message>
  <message>
   <source>Blocked {time} in all</source>
   <translation>Insgesamt {time} blockiert</translation>
  </message>
  <message>
   <source>Blocked: {names}{more}</source>
   <translation>Blockiert: {names}{more}</translation>
  </message>
  <message>
   <source>Bookmark</source>
   <translation>Lesezeichen</translation>
  </message>
  <message>
   <source>Bookmark {number}</source>
   <translation>Lesezeichen {number}</translation>
  </message>
  <message>
   <source>Bookmarked {time}: {name}.</source>
   <translation>Lesezeichen bei {time}: {name}.</translation>
  </message>
  <message>
   <source>Bookmarks</source>
   <translation>Lesezeichen</translation>
  </message>
  <message>
   <source>Both groups have shared out the six partitions.</source>
   <translation>Beide Gruppen haben die sechs Partitionen unter sich verteilt.</translation>
  </message>
  <message>
   <source>Both queues are full most of the time, and both workers are equally busy.</source>
   <translation>Beide Queues sind meistens voll, und beide Worker sind gleich beschäftigt.</translation>
  </message>
  <message>
   <source>Both words, anywhere in the row, in any case.</source>
   <translation>Beide Wörter, irgendwo in der Zeile, groß oder klein.</translation>
  </message>
  <message>
   <source>Branch</source>
   <translation>Zweig</translation>
  </message>
  <message>
   <source>Branch here</source>
   <translation>Hier abzweigen</translation>
  </message>
  <message>
   <source>Branch here (Ctrl+B)</source>
   <translation>Hier abzweigen (Strg+B)</translation>
  </message>
  <message>
   <source>Break requests</source>
   <translation>Requests stören</translation>
  </message>
  <message>
   <source>Break requests...</source>
   <translation>Requests stören...</translation>
  </message>
  <message>
   <source>Break them</source>
   <translation>Stören</translation>
  </message>
  <message>
   <source>Breaks requests of Kafka programs, as often and for as long as you choose.</source>
   <translation>Stört Requests von Kafka-Programmen, so oft und so lange Sie wollen.</translation>
  </message>
  <message>
   <source>Broker</source>
   <translation>Broker</translation>
  </message>
  <message>
   <source>Broker gone</source>
   <translation>Broker weg</translation>
  </message>
  <message>
   <source>Broker gone: {cause}</source>
   <translation>Broker weg: {cause}</translation>
  </message>
  <message>
   <source>Broker seen</source>
   <translation>Broker gesehen</translation>
  </message>
  <message>
   <source>Broker {cause}</source>
   <translation>Broker: {cause}</translation>
  </message>
  <message>
   <source>Brokers</source>
   <translation>Broker</translation>
  </message>
  <message>
   <source>Brokers of a cluster</source>
   <translation>Broker eines Clusters</translation>
  </message>
  <message>
   <source>Brokers, leaders, replicas</source>
   <translation>Broker, Leader, Replikate</translation>
  </message>
  <message>
   <source>Browse messages</source>
   <translation>Nachrichten ansehen</translation>
  </message>
  <message>
   <source>Browse...</source>
   <translation>Durchsuchen...</translation>
  </message>
  <message>
   <source>Bursts make the lag of a partition rise; weekends let it fall.</source>
   <translation>Schübe lassen den Rückstand einer Partition steigen, Wochenenden lassen ihn fallen.</translation>
  </message>
  <message>
   <source>Buttons that do not fit in the toolbar</source>
   <translation>Schaltflächen, die nicht in die Werkzeugleiste passen</translation>
  </message>
  <message>
   <source>By</source>
   <translation>Um</translation>
  </message>
  <message>
   <source>By weight or by least loaded, hardly anything waits. The weights had to be known in advance; the load is measured.</source>
   <translation>Nach Gewicht oder nach geringster Last wartet kaum etwas. Die Gewichte musste man vorher kennen, die Last wird gemessen.</translation>
  </message>
  <message>
   <source>Bytes</source>
   <translation>Bytes</translation>
  </message>
  <message>
   <source>Bytes a second</source>
   <translation>Bytes pro Sekunde</translation>
  </message>
  <message>
   <source>Bytes at most</source>
   <translation>Bytes höchstens</translation>
  </message>
  <message>
   <source>Bytes in</source>
   <translation>Bytes ein</translation>
  </message>
  <message>
   <source>Bytes of the value.</source>
   <translation>Bytes des Werts.</translation>
  </message>
  <message>
   <source>Bytes out</source>
   <translation>Bytes aus</translation>
  </message>
  <message>
   <source>Bytes that a client may send or fetch per second; a request beyond that waits.</source>
   <translation>Bytes, die ein Client pro Sekunde senden oder holen darf; eine Anfrage darüber hinaus wartet.</translation>
  </message>
  <message>
   <source>Bytes/s</source>
   <translation>Bytes/s</translation>
  </message>
  <message>
   <source>Came back after a redrive, and stay: {count}.</source>
   <translation>Nach einem Zurückführen wiedergekommen, bleiben: {count}.</translation>
  </message>
  <message>
   <source>Came back three times, and stay: {count}; mend what reads them.</source>
   <translation>Dreimal wiedergekommen, bleiben: {count}; was sie liest, ist zu reparieren.</translation>
  </message>
  <message>
   <source>Cancel</source>
   <translation>Abbrechen</translation>
  </message>
  <message>
   <source>Cancelled</source>
   <translation>Abgebrochen</translation>
  </message>
  <message>
   <source>Cancelled; nothing was left half-done.</source>
   <translation>Abgebrochen; nichts ist halb fertig zurückgeblieben.</translation>
  </message>
  <message>
   <source>Cancelling</source>
   <translation>Wird abgebrochen</translation>
  </message>
  <message>
   <source>Canvas</source>
   <translation>Zeichenfläche</translation>
  </message>
  <message>
   <source>Canvas and timeline alone.</source>
   <translation>Nur Zeichenfläche und Zeitleiste.</translation>
  </message>
  <message>
   <source>Canvas of the broker</source>
   <translation>Zeichenfläche des Brokers</translation>
  </message>
  <message>
   <source>Canvas, panels, time, sessions, keys.</source>
   <translation>Zeichenfläche, Panels, Zeit, Sitzungen, Tasten.</translation>
  </message>
  <message>
   <source>Canvas.</source>
   <translation>Zeichenfläche.</translation>
  </message>
  <message>
   <source>Cause</source>
   <translation>Ursache</translation>
  </message>
  <message>
   <source>Cause and details.</source>
   <translation>Ursache und Einzelheiten.</translation>
  </message>
  <message>
   <source>Causes</source>
   <translation>Ursachen</translation>
  </message>
  <message>
   <source>Certificates to trust</source>
   <translation>Vertraute Zertifikate</translation>
  </message>
  <message>
   <source>Changed</source>
   <translation>Geändert</translation>
  </message>
  <message>
   <source>Changed at {place}: {before} became {after}</source>
   <translation>Geändert bei {place}: aus {before} wurde {after}</translation>
  </message>
  <message>
   <source>Changes</source>
   <translation>Änderungen</translation>
  </message>
  <message>
   <source>Changes are refused</source>
   <translation>Änderungen werden abgelehnt</translation>
  </message>
  <message>
   <source>Changes the committed offsets of a group. Its members continue from there after a restart.</source>
   <translation>Ändert die committeten Offsets einer Gruppe. Nach einem Neustart lesen ihre Mitglieder von dort weiter.</translation>
  </message>
  <message>
   <source>Changes the message that a redrive appends.</source>
   <translation>Ändert die Nachricht, die ein Redrive anhängt.</translation>
  </message>
  <message>
   <source>Charts</source>
   <translation>Diagramme</translation>
  </message>
  <message>
   <source>Charts by Apache ECharts (Apache License 2.0). This page loads nothing from anywhere.</source>
   <translation>Diagramme von Apache ECharts (Apache License 2.0). Diese Seite lädt nichts nach.</translation>
  </message>
  <message>
   <source>Check</source>
   <translation>Prüfen</translation>
  </message>
  <message>
   <source>Check a message</source>
   <translation>Eine Nachricht prüfen</translation>
  </message>
  <message>
   <source>Checking every message...</source>
   <translation>Alle Nachrichten werden geprüft...</translation>
  </message>
  <message>
   <source>Choose Everything, or wait for one.</source>
   <translation>Alles wählen oder auf eines warten.</translation>
  </message>
  <message>
   <source>Choose a dead letter first.</source>
   <translation>Erst einen Dead Letter wählen.</translation>
  </message>
  <message>
   <source>Choose a folder for the report.</source>
   <translation>Einen Ordner für den Bericht wählen.</translation>
  </message>
  <message>
   <source>Choose a segment to see how its partition is stored.</source>
   <translation>Wählen Sie ein Segment, um zu sehen, wie seine Partition gespeichert ist.</translation>
  </message>
  <message>
   <source>Choose a session.</source>
   <translation>Eine Sitzung wählen.</translation>
  </message>
  <message>
   <source>Choose a topic first.</source>
   <translation>Erst ein Topic wählen.</translation>
  </message>
  <message>
   <source>Choose a version of the subject first.</source>
   <translation>Erst eine Version des Subjects wählen.</translation>
  </message>
  <message>
   <source>Choose a version to read it here.</source>
   <translation>Eine Version wählen, um sie hier zu lesen.</translation>
  </message>
  <message>
   <source>Choose an assignor.</source>
   <translation>Einen Assignor wählen.</translation>
  </message>
  <message>
   <source>Choose an event in the panel Events first.</source>
   <translation>Erst ein Ereignis im Panel Ereignisse wählen.</translation>
  </message>
  <message>
   <source>Choose another group than the one that is reset.</source>
   <translation>Eine andere Gruppe wählen als die, die zurückgesetzt wird.</translation>
  </message>
  <message>
   <source>Choose another topic or partition. {goes_on}</source>
   <translation>Ein anderes Topic oder eine andere Partition wählen. {goes_on}</translation>
  </message>
  <message>
   <source>Choose at least one form.</source>
   <translation>Mindestens ein Format wählen.</translation>
  </message>
  <message>
   <source>Choose at least one part.</source>
   <translation>Mindestens einen Teil wählen.</translation>
  </message>
  <message>
   <source>Classes for tests</source>
   <translation>Klassen für Tests</translation>
  </message>
  <message>
   <source>Cleaned up by</source>
   <translation>Bereinigung durch</translation>
  </message>
  <message>
   <source>Clear the filter</source>
   <translation>Filter leeren</translation>
  </message>
  <message>
   <source>Clear the selection</source>
   <translation>Auswahl aufheben</translation>
  </message>
  <message>
   <source>Click anything: on the canvas, a row of a table, a card. Its facts are shown here.</source>
   <translation>Klicken Sie etwas an: auf der Zeichenfläche, eine Tabellenzeile, eine Karte. Hier stehen dann die Einzelheiten.</translation>
  </message>
  <message>
   <source>Click on the timeline, a few seconds back.</source>
   <translation>Auf die Zeitleiste klicken, einige Sekunden zurück.</translation>
  </message>
  <message>
   <source>Click or drag to go back in the session; Left and Right go by a second.</source>
   <translation>Klicken oder ziehen, um in der Sitzung zurückzugehen; Links und Rechts gehen um eine Sekunde.</translation>
  </message>
  <message>
   <source>Click the group billing and set an alert with Ctrl+Alt+Y.</source>
   <translation>Die Gruppe billing anklicken und mit Strg+Alt+Y einen Alarm setzen.</translation>
  </message>
  <message>
   <source>Click the group billing.</source>
   <translation>Die Gruppe billing anklicken.</translation>
  </message>
  <message>
   <source>Click to choose whether new sessions are recorded (Ctrl+G).</source>
   <translation>Klicken, um zu wählen, ob neue Sitzungen aufgezeichnet werden (Strg+G).</translation>
  </message>
  <message>
   <source>Client</source>
   <translation>Client</translation>
  </message>
  <message>
   <source>Client id</source>
   <translation>Client-ID</translation>
  </message>
  <message>
   <source>Client started</source>
   <translation>Client gestartet</translation>
  </message>
  <message>
   <source>Client stopped</source>
   <translation>Client gestoppt</translation>
  </message>
  <message>
   <source>Clients</source>
   <translation>Clients</translation>
  </message>
  <message>
   <source>Clients with bootstrap.servers={listens} are passed on to {where}, and what they do is seen.</source>
   <translation>Clients mit bootstrap.servers={listens} werden an {where} weitergegeben, und man sieht, was sie tun.</translation>
  </message>
  <message>
   <source>Close</source>
   <translation>Schließen</translation>
  </message>
  <message>
   <source>Close all listeners</source>
   <translation>Alle Listener schließen</translation>
  </message>
  <message>
   <source>Closed {count}; they can be opened.</source>
   <translation>{count} geschlossen; sie lassen sich öffnen.</translation>
  </message>
  <message>
   <source>Closes every connection.</source>
   <translation>Trennt alle Verbindungen.</translation>
  </message>
  <message>
   <source>Closes the selected connection.</source>
   <translation>Trennt die gewählte Verbindung.</translation>
  </message>
  <message>
   <source>Closing interrupted recordings</source>
   <translation>Unterbrochene Aufzeichnungen werden abgeschlossen</translation>
  </message>
  <message>
   <source>Cluster</source>
   <translation>Cluster</translation>
  </message>
  <message>
   <source>Colour: lag up to {count}. Hatched: no reader.</source>
   <translation>Farbe: Lag bis {count}. Schraffiert: kein Leser.</translation>
  </message>
  <message>
   <source>Come back to the present (Alt+Right).</source>
   <translation>In die Gegenwart zurückkehren (Alt+Rechts).</translation>
  </message>
  <message>
   <source>Comes from</source>
   <translation>Herkunft</translation>
  </message>
  <message>
   <source>Command</source>
   <translation>Befehl</translation>
  </message>
  <message>
   <source>Command or name</source>
   <translation>Befehl oder Name</translation>
  </message>
  <message>
   <source>Commands</source>
   <translation>Befehle</translation>
  </message>
  <message>
   <source>Commands, names, messages, keys and moments.</source>
   <translation>Befehle, Namen, Nachrichten, Schlüssel und Zeitpunkte.</translation>
  </message>
  <message>
   <source>Commits</source>
   <translation>Committet</translation>
  </message>
  <message>
   <source>Committed</source>
   <translation>Committet</translation>
  </message>
  <message>
   <source>Committed offsets are requested before the ends, so that lag is never negative.</source>
   <translation>Die committeten Offsets werden vor den Enden abgefragt, damit der Rückstand nie negativ ist.</translation>
  </message>
  <message>
   <source>Committed too far</source>
   <translation>Zu weit committet</translation>
  </message>
  <message>
   <source>Compacted</source>
   <translation>Kompaktiert</translation>
  </message>
  <message>
   <source>Compaction</source>
   <translation>Kompaktierung</translation>
  </message>
  <message>
   <source>Compare</source>
   <translation>Vergleichen</translation>
  </message>
  <message>
   <source>Compare assignors...</source>
   <translation>Assignors vergleichen...</translation>
  </message>
  <message>
   <source>Compare two sessions</source>
   <translation>Zwei Sitzungen vergleichen</translation>
  </message>
  <message>
   <source>Compare two sessions...</source>
   <translation>Zwei Sitzungen vergleichen...</translation>
  </message>
  <message>
   <source>Compare with the last run</source>
   <translation>Mit dem letzten Lauf vergleichen</translation>
  </message>
  <message>
   <source>Compare {one} with {other}</source>
   <translation>{one} mit {other} vergleichen</translation>
  </message>
  <message>
   <source>Comparing...</source>
   <translation>Vergleich läuft...</translation>
  </message>
  <message>
   <source>Compatibility</source>
   <translation>Kompatibilität</translation>
  </message>
  <message>
   <source>Completing rebalance</source>
   <translation>Rebalance wird abgeschlossen</translation>
  </message>
  <message>
   <source>Compression</source>
   <translation>Kompression</translation>
  </message>
  <message>
   <source>Condition</source>
   <translation>Bedingung</translation>
  </message>
  <message>
   <source>Conditions are written like filters and refer to things by name: {examples}. The alert is raised once each time the condition has been met for that long.</source>
   <translation>Bedingungen werden wie Filter geschrieben und nennen Dinge beim Namen: {examples}. Der Alarm wird jedes Mal einmal ausgelöst, wenn die Bedingung so lange erfüllt war.</translation>
  </message>
  <message>
   <source>Conditions, verdicts, faults and the clock for tests.</source>
   <translation>Bedingungen, Urteile, Fehler und die Uhr für Tests.</translation>
  </message>
  <message>
   <source>Configure</source>
   <translation>Konfigurieren</translation>
  </message>
  <message>
   <source>Configure group</source>
   <translation>Gruppe konfigurieren</translation>
  </message>
  <message>
   <source>Configure group...</source>
   <translation>Gruppe konfigurieren...</translation>
  </message>
  <message>
   <source>Configure topic...</source>
   <translation>Topic konfigurieren...</translation>
  </message>
  <message>
   <source>Configure {topic}</source>
   <translation>{topic} konfigurieren</translation>
  </message>
  <message>
   <source>Connected to the broker of this session: {names}. End it?</source>
   <translation>Mit dem Broker dieser Sitzung verbunden: {names}. Beenden?</translation>
  </message>
  <message>
   <source>Connecting...</source>
   <translation>Verbindung wird hergestellt...</translation>
  </message>
  <message>
   <source>Connection ended</source>
   <translation>Verbindung beendet</translation>
  </message>
  <message>
   <source>Connection lost</source>
   <translation>Verbindung verloren</translation>
  </message>
  <message>
   <source>Connection {number} is cut.</source>
   <translation>Verbindung {number} ist getrennt.</translation>
  </message>
  <message>
   <source>Connections</source>
   <translation>Verbindungen</translation>
  </message>
  <message>
   <source>Connections that ended with an error or were cut stay listed for a while.</source>
   <translation>Verbindungen, die mit einem Fehler endeten oder getrennt wurden, bleiben eine Weile in der Liste.</translation>
  </message>
  <message>
   <source>Consumer</source>
   <translation>Consumer</translation>
  </message>
  <message>
   <source>Consumer lag</source>
   <translation>Rückstand (Lag)</translation>
  </message>
  <message>
   <source>Consumers</source>
   <translation>Consumer</translation>
  </message>
  <message>
   <source>Consumers that move into it share the partitions of its topic.</source>
   <translation>Consumer, die hierher verschoben werden, teilen sich die Partitionen ihres Topics.</translation>
  </message>
  <message>
   <source>Consumers waiting</source>
   <translation>Wartende Consumer</translation>
  </message>
  <message>
   <source>Containing</source>
   <translation>Mit dem Text</translation>
  </message>
  <message>
   <source>Continue</source>
   <translation>Fortsetzen</translation>
  </message>
  <message>
   <source>Continues from where it was stopped, or past the end of its scenario.</source>
   <translation>Setzt sie fort, wo sie gestoppt wurde, auch über das Ende ihres Szenarios hinaus.</translation>
  </message>
  <message>
   <source>Controller</source>
   <translation>Controller</translation>
  </message>
  <message>
   <source>Controller moved</source>
   <translation>Controller gewechselt</translation>
  </message>
  <message>
   <source>Copied the message as JSON.</source>
   <translation>Nachricht als JSON kopiert.</translation>
  </message>
  <message>
   <source>Copied to {path}</source>
   <translation>Kopiert nach {path}</translation>
  </message>
  <message>
   <source>Copied: {link}</source>
   <translation>Kopiert: {link}</translation>
  </message>
  <message>
   <source>Copies the recording elsewhere.</source>
   <translation>Kopiert die Aufzeichnung an einen anderen Ort.</translation>
  </message>
  <message>
   <source>Copies {count} in {time}, in order, with key, headers and time.</source>
   <translation>Kopiert {count} in {time}, der Reihe nach, mit Schlüssel, Headern und Zeit.</translation>
  </message>
  <message>
   <source>Copy</source>
   <translation>Kopieren</translation>
  </message>
  <message>
   <source>Copy a link to this moment</source>
   <translation>Link zu diesem Moment kopieren</translation>
  </message>
  <message>
   <source>Copy as JSON</source>
   <translation>Als JSON kopieren</translation>
  </message>
  <message>
   <source>Copy of {name}</source>
   <translation>Kopie von {name}</translation>
  </message>
  <message>
   <source>Copying the session to {target}.</source>
   <translation>Die Sitzung wird nach {target} kopiert.</translation>
  </message>
  <message>
   <source>Copying {name}</source>
   <translation>{name} wird kopiert</translation>
  </message>
  <message>
   <source>Correlation id</source>
   <translation>Correlation-Id</translation>
  </message>
  <message>
   <source>Corruption</source>
   <translation>Beschädigung</translation>
  </message>
  <message>
   <source>Count</source>
   <translation>Anzahl</translation>
  </message>
  <message>
   <source>Counting...</source>
   <translation>Wird gezählt...</translation>
  </message>
  <message>
   <source>Crash painter-1 too. Select it and press Ctrl+Alt+X. Watch the queue for a while.</source>
   <translation>Auch painter-1 abstürzen lassen: auswählen und Strg+Alt+X drücken. Dann die Warteschlange eine Weile beobachten.</translation>
  </message>
  <message>
   <source>Crash poster-1 while it works. Select it and press Ctrl+Alt+X.</source>
   <translation>poster-1 bei der Arbeit abstürzen lassen: auswählen und Strg+Alt+X drücken.</translation>
  </message>
  <message>
   <source>Crash the bank again, and restart it at once. It aborts the transaction it had left open, and nobody waits for a timeout.</source>
   <translation>Lassen Sie die Bank noch einmal abstürzen und starten Sie sie sofort neu. Sie bricht die Transaktion ab, die sie offen gelassen hat, und niemand wartet auf ein Timeout.</translation>
  </message>
  <message>
   <source>Crash the shop. Select it and press Ctrl+Alt+X.</source>
   <translation>shop abstürzen lassen: auswählen und Strg+Alt+X drücken.</translation>
  </message>
  <message>
   <source>Crash the slow worker of "turns". All messages it held come back only when their leases expire.</source>
   <translation>Lassen Sie den langsamen Worker von „turns“ abstürzen. Alle Nachrichten, die er hielt, kommen erst zurück, wenn ihre Leases ablaufen.</translation>
  </message>
  <message>
   <source>Crash {name}</source>
   <translation>{name} abstürzen lassen</translation>
  </message>
  <message>
   <source>Crash...</source>
   <translation>Abstürzen lassen...</translation>
  </message>
  <message>
   <source>Crashed</source>
   <translation>Abgestürzt</translation>
  </message>
  <message>
   <source>Crashes the client: it neither leaves its group nor releases its leases.</source>
   <translation>Lässt den Client abstürzen: Er verlässt seine Gruppe nicht und gibt keine Leases frei.</translation>
  </message>
  <message>
   <source>Create</source>
   <translation>Anlegen</translation>
  </message>
  <message>
   <source>Create ACL</source>
   <translation>ACL anlegen</translation>
  </message>
  <message>
   <source>Create ACL...</source>
   <translation>ACL anlegen...</translation>
  </message>
  <message>
   <source>Create an ACL or set a quota here, on the command line, over HTTP or with Kafka's tools.</source>
   <translation>Legen Sie hier, auf der Kommandozeile, über HTTP oder mit den Werkzeugen von Kafka eine ACL an oder setzen Sie eine Quota.</translation>
  </message>
  <message>
   <source>Create group</source>
   <translation>Gruppe anlegen</translation>
  </message>
  <message>
   <source>Create group...</source>
   <translation>Gruppe anlegen...</translation>
  </message>
  <message>
   <source>Create queue</source>
   <translation>Queue anlegen</translation>
  </message>
  <message>
   <source>Create queue...</source>
   <translation>Queue anlegen...</translation>
  </message>
  <message>
   <source>Create subscription</source>
   <translation>Subscription anlegen</translation>
  </message>
  <message>
   <source>Create subscription...</source>
   <translation>Subscription anlegen...</translation>
  </message>
  <message>
   <source>Create topic</source>
   <translation>Topic anlegen</translation>
  </message>
  <message>
   <source>Create topic...</source>
   <translation>Topic anlegen...</translation>
  </message>
  <message>
   <source>Created</source>
   <translation>Erstellt</translation>
  </message>
  <message>
   <source>Ctrl+E makes a report of its recording {folder}.</source>
   <translation>Strg+E macht einen Bericht aus ihrer Aufzeichnung {folder}.</translation>
  </message>
  <message>
   <source>Ctrl+Space lists what may be written, Ctrl+Return runs it, Ctrl+S saves it.</source>
   <translation>Strg+Leertaste zeigt, was hier stehen kann, Strg+Eingabe führt es aus, Strg+S speichert es.</translation>
  </message>
  <message>
   <source>Current rates</source>
   <translation>Aktuelle Raten</translation>
  </message>
  <message>
   <source>Curves grow here as session time passes and messages are published.</source>
   <translation>Hier wachsen Kurven, während Sitzungszeit vergeht und Nachrichten veröffentlicht werden.</translation>
  </message>
  <message>
   <source>Cut connection</source>
   <translation>Verbindung trennen</translation>
  </message>
  <message>
   <source>Dark</source>
   <translation>Dunkel</translation>
  </message>
  <message>
   <source>Data</source>
   <translation>Daten</translation>
  </message>
  <message>
   <source>Dead</source>
   <translation>Tot</translation>
  </message>
  <message>
   <source>Dead letter</source>
   <translation>Dead Letter</translation>
  </message>
  <message>
   <source>Dead letters</source>
   <translation>Dead Letters</translation>
  </message>
  <message>
   <source>Dead letters accumulate slowly, all with the same cause. Open one to see when each attempt was made, by which worker, and with what error.</source>
   <translation>Dead Letters sammeln sich langsam an, alle mit derselben Ursache. Öffnen Sie eine: Man sieht, wann jeder Versuch stattfand, durch welchen Worker und mit welchem Fehler.</translation>
  </message>
  <message>
   <source>Dead letters of a queue or in a topic.</source>
   <translation>Dead Letters einer Queue oder in einem Topic.</translation>
  </message>
  <message>
   <source>Dead letters of {queue_name}</source>
   <translation>Dead Letters von {queue_name}</translation>
  </message>
  <message>
   <source>Dead letters of {queue}: {count}. They go back to their origin.</source>
   <translation>Dead Letters von {queue}: {count}. Sie gehen an ihren Ursprung zurück.</translation>
  </message>
  <message>
   <source>Dead letters of {topic}: {count}. They stay there, and copies go back.</source>
   <translation>Dead Letters von {topic}: {count}. Sie bleiben dort, und Kopien gehen zurück.</translation>
  </message>
  <message>
   <source>Dead-letter</source>
   <translation>Zum Dead Letter machen</translation>
  </message>
  <message>
   <source>Dead-letter topic</source>
   <translation>Dead-Letter-Topic</translation>
  </message>
  <message>
   <source>Dead-lettered</source>
   <translation>Zum Dead Letter geworden</translation>
  </message>
  <message>
   <source>Dead-lettered at once.</source>
   <translation>Sofort zum Dead Letter gemacht.</translation>
  </message>
  <message>
   <source>Dead-lettered if this attempt fails.</source>
   <translation>Wird zum Dead Letter, wenn dieser Versuch scheitert.</translation>
  </message>
  <message>
   <source>Defines which versions the next one must be able to read or be readable by.</source>
   <translation>Legt fest, welche Versionen die nächste lesen können muss oder von welchen sie lesbar sein muss.</translation>
  </message>
  <message>
   <source>Delayed</source>
   <translation>Verzögert</translation>
  </message>
  <message>
   <source>Delete</source>
   <translation>Löschen</translation>
  </message>
  <message>
   <source>Delete group</source>
   <translation>Gruppe löschen</translation>
  </message>
  <message>
   <source>Delete queue</source>
   <translation>Queue löschen</translation>
  </message>
  <message>
   <source>Delete queue...</source>
   <translation>Queue löschen...</translation>
  </message>
  <message>
   <source>Delete records of {topic}</source>
   <translation>Einträge von {topic} löschen</translation>
  </message>
  <message>
   <source>Delete records...</source>
   <translation>Einträge löschen...</translation>
  </message>
  <message>
   <source>Delete the saved filter {name}</source>
   <translation>Den gespeicherten Filter {name} löschen</translation>
  </message>
  <message>
   <source>Delete this filter</source>
   <translation>Diesen Filter löschen</translation>
  </message>
  <message>
   <source>Delete topic</source>
   <translation>Topic löschen</translation>
  </message>
  <message>
   <source>Delete topic...</source>
   <translation>Topic löschen...</translation>
  </message>
  <message>
   <source>Delete {queue}</source>
   <translation>{queue} löschen</translation>
  </message>
  <message>
   <source>Delete {topic}</source>
   <translation>{topic} löschen</translation>
  </message>
  <message>
   <source>Deleted</source>
   <translation>Gelöscht</translation>
  </message>
  <message>
   <source>Deletes all listed dead letters.</source>
   <translation>Löscht alle aufgelisteten Dead Letters.</translation>
  </message>
  <message>
   <source>Deletes the group and its committed offsets.</source>
   <translation>Löscht die Gruppe und ihre committeten Offsets.</translation>
  </message>
  <message>
   <source>Deletes the messages below an offset from the log. This cannot be undone.</source>
   <translation>Löscht die Nachrichten unter einem Offset aus dem Log. Das lässt sich nicht rückgängig machen.</translation>
  </message>
  <message>
   <source>Deletes the selected dead letters.</source>
   <translation>Löscht die ausgewählten Dead Letters.</translation>
  </message>
  <message>
   <source>Delivered</source>
   <translation>Zugestellt</translation>
  </message>
  <message>
   <source>Delivered (session)</source>
   <translation>Zugestellt (Sitzung)</translation>
  </message>
  <message>
   <source>Delivered a second</source>
   <translation>Zugestellt pro Sekunde</translation>
  </message>
  <message>
   <source>Delivered again</source>
   <translation>Erneut zugestellt</translation>
  </message>
  <message>
   <source>Delivered before.</source>
   <translation>Schon einmal zugestellt.</translation>
  </message>
  <message>
   <source>Delivered messages that are not acknowledged.</source>
   <translation>Zugestellte, noch nicht bestätigte Nachrichten.</translation>
  </message>
  <message>
   <source>Delivered twice</source>
   <translation>Zweimal zugestellt</translation>
  </message>
  <message>
   <source>Deliveries</source>
   <translation>Zustellungen</translation>
  </message>
  <message>
   <source>Deliveries of this message so far; after the last attempt it becomes a dead letter.</source>
   <translation>Bisherige Zustellungen dieser Nachricht; nach dem letzten Versuch wird sie zum Dead Letter.</translation>
  </message>
  <message>
   <source>Deny it</source>
   <translation>Verbieten</translation>
  </message>
  <message>
   <source>Depth</source>
   <translation>Tiefe</translation>
  </message>
  <message>
   <source>Depth at most</source>
   <translation>Tiefe höchstens</translation>
  </message>
  <message>
   <source>Depth, rate, and the policy at the limit.</source>
   <translation>Tiefe, Rate und die Regel an der Grenze.</translation>
  </message>
  <message>
   <source>Detail</source>
   <translation>Einzelheit</translation>
  </message>
  <message>
   <source>Details</source>
   <translation>Einzelheiten</translation>
  </message>
  <message>
   <source>Died</source>
   <translation>Gestorben</translation>
  </message>
  <message>
   <source>Died (session)</source>
   <translation>Tot um (Sitzung)</translation>
  </message>
  <message>
   <source>Difference</source>
   <translation>Unterschied</translation>
  </message>
  <message>
   <source>Differences from the previous run.</source>
   <translation>Unterschiede zum vorigen Lauf.</translation>
  </message>
  <message>
   <source>Differences: {what}.</source>
   <translation>Unterschiede: {what}.</translation>
  </message>
  <message>
   <source>Different keys</source>
   <translation>Verschiedene Schlüssel</translation>
  </message>
  <message>
   <source>Discard them</source>
   <translation>Verwerfen</translation>
  </message>
  <message>
   <source>Disk</source>
   <translation>Platte</translation>
  </message>
  <message>
   <source>Disk full</source>
   <translation>Platte voll</translation>
  </message>
  <message>
   <source>Disk problems</source>
   <translation>Probleme mit der Platte</translation>
  </message>
  <message>
   <source>Dismiss</source>
   <translation>Ausblenden</translation>
  </message>
  <message>
   <source>Does read_committed give a consumer exactly-once processing?</source>
   <translation>Arbeitet ein Consumer mit read_committed exactly-once?</translation>
  </message>
  <message>
   <source>Done</source>
   <translation>Fertig</translation>
  </message>
  <message>
   <source>Done at {time}</source>
   <translation>Erledigt bei {time}</translation>
  </message>
  <message>
   <source>Done by {event}</source>
   <translation>Erledigt durch {event}</translation>
  </message>
  <message>
   <source>Done in an earlier run</source>
   <translation>In einem früheren Lauf erledigt</translation>
  </message>
  <message>
   <source>Drag a box to move it, or press Shift and an arrow key. Meanwhile, dragging does not move consumers between groups.</source>
   <translation>Einen Kasten ziehen, um ihn zu verschieben, oder Umschalt und eine Pfeiltaste drücken. Dabei werden keine Consumer zwischen Gruppen verschoben.</translation>
  </message>
  <message>
   <source>Drag a clerk to the bench. When does the lag stop fitting into the pauses?</source>
   <translation>Ziehen Sie einen Clerk auf die Bank. Ab wann passt der Rückstand nicht mehr in die Pausen?</translation>
  </message>
  <message>
   <source>Drag a member to the bench and back, in each group, and compare the rebalance cards.</source>
   <translation>Ziehen Sie in jeder Gruppe ein Mitglied auf die Bank und zurück und vergleichen Sie die Rebalance-Karten.</translation>
  </message>
  <message>
   <source>Drag a static member to the bench. Once it is taken out of the group, it has no place to return to, and the group rebalances.</source>
   <translation>Ziehen Sie ein statisches Mitglied auf die Bank. Ist es aus der Gruppe genommen, hat es keinen Platz, an den es zurückkehren könnte, und die Gruppe macht einen Rebalance.</translation>
  </message>
  <message>
   <source>Drag boxes, or Shift+arrow keys.</source>
   <translation>Kästen ziehen, oder Umschalt und Pfeiltasten.</translation>
  </message>
  <message>
   <source>Drag helper-1 to the bench.</source>
   <translation>helper-1 auf die Bank ziehen.</translation>
  </message>
  <message>
   <source>Drag indexer-2 out of the group. Who takes over its partitions?</source>
   <translation>Ziehen Sie indexer-2 aus der Gruppe. Wer übernimmt seine Partitionen?</translation>
  </message>
  <message>
   <source>Drag indexer-4 from the bench into the group indexers and watch the rebalance.</source>
   <translation>Ziehen Sie indexer-4 von der Bank in die Gruppe indexers und beobachten Sie den Rebalance.</translation>
  </message>
  <message>
   <source>Drag indexer-4 from the bench into the group indexers.</source>
   <translation>indexer-4 von der Bank in die Gruppe indexers ziehen.</translation>
  </message>
  <message>
   <source>Drag members to the bench and back. Compare the two cards on the right.</source>
   <translation>Ziehen Sie Mitglieder auf die Bank und zurück. Vergleichen Sie die beiden Karten rechts.</translation>
  </message>
  <message>
   <source>Drag new-3 to the bench, and compare.</source>
   <translation>new-3 auf die Bank ziehen und vergleichen.</translation>
  </message>
  <message>
   <source>Drag old-3 to the bench.</source>
   <translation>old-3 auf die Bank ziehen.</translation>
  </message>
  <message>
   <source>Drag packer-2 to the bench.</source>
   <translation>packer-2 auf die Bank ziehen.</translation>
  </message>
  <message>
   <source>Drag packer-2 to the bench. Now packer-1 owns all four partitions, and each customer's orders are still in order.</source>
   <translation>Ziehen Sie packer-2 auf die Bank. Nun besitzt packer-1 alle vier Partitionen, und die Bestellungen jedes Kunden bleiben in ihrer Reihenfolge.</translation>
  </message>
  <message>
   <source>Drag poster-1 to the bench while it works. It leaves properly, and yet one message comes twice. Why?</source>
   <translation>Ziehen Sie poster-1 auf die Bank, während er arbeitet. Er meldet sich ordentlich ab, und doch kommt eine Nachricht zweimal. Warum?</translation>
  </message>
  <message>
   <source>Drag ranger-1 to the bench.</source>
   <translation>ranger-1 auf die Bank ziehen.</translation>
  </message>
  <message>
   <source>Drag regular-2 to the bench.</source>
   <translation>regular-2 auf die Bank ziehen.</translation>
  </message>
  <message>
   <source>Drag spare-1 into clerks at second 80, when the lag is at its worst. How long until it is gone?</source>
   <translation>Ziehen Sie spare-1 in Sekunde 80 zu clerks, wenn der Rückstand am größten ist. Wie lange dauert es, bis er weg ist?</translation>
  </message>
  <message>
   <source>Drag spare-1 into the group at second 50. How fast must you be?</source>
   <translation>Ziehen Sie spare-1 in Sekunde 50 in die Gruppe. Wie schnell muss man sein?</translation>
  </message>
  <message>
   <source>Drag spare-1 into the group clerks.</source>
   <translation>spare-1 in die Gruppe clerks ziehen.</translation>
  </message>
  <message>
   <source>Drag spare-1 into the group counters.</source>
   <translation>spare-1 in die Gruppe counters ziehen.</translation>
  </message>
  <message>
   <source>Drag spare-1 into the group packers, then packer-1 to the bench, and wait until the alert is over.</source>
   <translation>spare-1 in die Gruppe packers ziehen, dann packer-1 auf die Bank, und warten, bis der Alarm vorbei ist.</translation>
  </message>
  <message>
   <source>Drag spare-1 into the group. The hot partition still has one owner, so it does not help.</source>
   <translation>Ziehen Sie spare-1 in die Gruppe. Die heiße Partition hat weiterhin einen Besitzer, also hilft es nicht.</translation>
  </message>
  <message>
   <source>Drag sticker-1 to the bench.</source>
   <translation>sticker-1 auf die Bank ziehen.</translation>
  </message>
  <message>
   <source>Dragging moves consumers again.</source>
   <translation>Ziehen bewegt wieder Consumer.</translation>
  </message>
  <message>
   <source>Drained in</source>
   <translation>Aufgeholt in</translation>
  </message>
  <message>
   <source>Drop a consumer here to take it out of its group.</source>
   <translation>Einen Consumer hierher ziehen, um ihn aus seiner Gruppe zu nehmen.</translation>
  </message>
  <message>
   <source>Drop heartbeats...</source>
   <translation>Heartbeats unterdrücken...</translation>
  </message>
  <message>
   <source>Drop here to leave it where it is</source>
   <translation>Hier loslassen, um ihn zu lassen, wo er ist</translation>
  </message>
  <message>
   <source>Drop the heartbeats of {name}</source>
   <translation>Heartbeats von {name} unterdrücken</translation>
  </message>
  <message>
   <source>Drop {topic} on a group to subscribe it</source>
   <translation>{topic} auf eine Gruppe ziehen, damit sie es liest</translation>
  </message>
  <message>
   <source>Dropped</source>
   <translation>Verworfen</translation>
  </message>
  <message>
   <source>Dry run: {going} would be appended.</source>
   <translation>Probelauf: {going} würden angehängt.</translation>
  </message>
  <message>
   <source>Duplicate</source>
   <translation>Duplizieren</translation>
  </message>
  <message>
   <source>Duplicate floor-1. Select it and press Ctrl+U.</source>
   <translation>floor-1 duplizieren: auswählen und Strg+U drücken.</translation>
  </message>
  <message>
   <source>Duplicate floor-1. The share group has more members than partitions, and all of them work.</source>
   <translation>Verdoppeln Sie floor-1. Die Share Group hat mehr Mitglieder als Partitionen, und alle arbeiten.</translation>
  </message>
  <message>
   <source>Duplicate topic, queue or group...</source>
   <translation>Topic, Queue oder Gruppe duplizieren...</translation>
  </message>
  <message>
   <source>Duplicate {name}</source>
   <translation>{name} duplizieren</translation>
  </message>
  <message>
   <source>During a rebalance, the eager groups stop completely, while the cooperative one keeps reading.</source>
   <translation>Während eines Rebalance stehen die Eager-Gruppen ganz still, die kooperative liest weiter.</translation>
  </message>
  <message>
   <source>Each alert says when it was raised and when it was over. Both are in the recording, and the report counts them.</source>
   <translation>Bei jedem Alarm steht, wann er ausgelöst wurde und wann er vorbei war. Beides steht in der Aufzeichnung, und der Bericht zählt die Alarme.</translation>
  </message>
  <message>
   <source>Each burst is a spike in the lag chart. The level at which the next one begins shows whether the group keeps up.</source>
   <translation>Jeder Schub ist eine Zacke im Diagramm des Rückstands. Auf welcher Höhe die nächste beginnt, zeigt, ob die Gruppe mitkommt.</translation>
  </message>
  <message>
   <source>Each burst raises "many parcels", although nothing is wrong. The alert is shown above the canvas and marked on the timeline.</source>
   <translation>Jeder Schub löst „many parcels“ aus, obwohl nichts nicht stimmt. Der Alarm steht über der Zeichenfläche und ist in der Zeitleiste markiert.</translation>
  </message>
  <message>
   <source>Each gauge shows how full a queue is, which producers are blocked and since when, and how many messages were turned away.</source>
   <translation>Jede Anzeige zeigt, wie voll eine Queue ist, welche Producer seit wann blockiert sind und wie viele Nachrichten abgewiesen wurden.</translation>
  </message>
  <message>
   <source>Each packer owns two partitions; nobody else reads them, so each customer's orders stay in order.</source>
   <translation>Jeder Packer besitzt zwei Partitionen; niemand sonst liest sie, also bleiben die Bestellungen jedes Kunden in ihrer Reihenfolge.</translation>
  </message>
  <message>
   <source>Each partition appears here with its owner in every group, as soon as there is a topic that a group reads.</source>
   <translation>Jede Partition erscheint hier mit ihrem Besitzer in jeder Gruppe, sobald es ein Topic gibt, das eine Gruppe liest.</translation>
  </message>
  <message>
   <source>Each partition of a topic or queue keeps its messages in segments, listed here.</source>
   <translation>Jede Partition eines Topics oder einer Queue speichert ihre Nachrichten in Segmenten; hier sind sie aufgelistet.</translation>
  </message>
  <message>
   <source>Each point is the mean of the preceding {time}.</source>
   <translation>Jeder Punkt ist der Mittelwert der vorangehenden {time}.</translation>
  </message>
  <message>
   <source>Each producer sends ten messages a second; each worker handles five. wait makes its producer wait: nothing is lost, but the producer slows down. refuse and newest turn new messages away; only the producer of refuse is told.</source>
   <translation>Jeder Producer sendet zehn Nachrichten pro Sekunde, jeder Worker schafft fünf. wait lässt seinen Producer warten: Nichts geht verloren, aber der Producer wird langsamer. refuse und newest weisen neue Nachrichten ab; nur der Producer von refuse erfährt davon.</translation>
  </message>
  <message>
   <source>Each rebalance adds a card here: the cause, what moved, what stayed, and how long reading paused. Drag a consumer into a group to see one.</source>
   <translation>Jeder Rebalance erscheint hier als Karte: die Ursache, was den Besitzer wechselte, was blieb und wie lange nicht gelesen wurde. Ziehen Sie einen Consumer in eine Gruppe, um einen zu sehen.</translation>
  </message>
  <message>
   <source>Each row is a message that a worker holds, with its attempt and the time left on its lease.</source>
   <translation>Jede Zeile ist eine Nachricht, die ein Worker hält, mit ihrem Versuch und der Restzeit ihrer Lease.</translation>
  </message>
  <message>
   <source>Each row is a partition; each bar is a group's view of its newest messages. Filled: committed. Orange: lag, not committed yet. Letter: the owner.</source>
   <translation>Jede Zeile ist eine Partition; jeder Balken zeigt aus Sicht einer Gruppe ihre neuesten Nachrichten. Gefüllt: committet. Orange: Rückstand, noch nicht committet. Buchstabe: der Besitzer.</translation>
  </message>
  <message>
   <source>Each was holding messages. After the session timeout of six seconds, each becomes a member again and continues from its group's committed offset.</source>
   <translation>Jeder hielt gerade Nachrichten. Nach dem Session-Timeout von sechs Sekunden wird jeder wieder Mitglied und liest ab dem committeten Offset seiner Gruppe weiter.</translation>
  </message>
  <message>
   <source>Edit</source>
   <translation>Bearbeiten</translation>
  </message>
  <message>
   <source>Edit a copy...</source>
   <translation>Kopie bearbeiten...</translation>
  </message>
  <message>
   <source>Edit a dead letter</source>
   <translation>Dead Letter bearbeiten</translation>
  </message>
  <message>
   <source>Edit scenario...</source>
   <translation>Szenario bearbeiten...</translation>
  </message>
  <message>
   <source>Edit...</source>
   <translation>Bearbeiten...</translation>
  </message>
  <message>
   <source>Edited</source>
   <translation>Bearbeitet</translation>
  </message>
  <message>
   <source>Edited: {payload}</source>
   <translation>Bearbeitet: {payload}</translation>
  </message>
  <message>
   <source>Empties the queue; can be undone.</source>
   <translation>Leert die Queue; lässt sich rückgängig machen.</translation>
  </message>
  <message>
   <source>Empty</source>
   <translation>Leer</translation>
  </message>
  <message>
   <source>Empty is any; * is every one that has no quota by name.</source>
   <translation>Leer ist jede Angabe; * ist, wer keine Quota mit seinem Namen hat.</translation>
  </message>
  <message>
   <source>Empty the field</source>
   <translation>Feld leeren</translation>
  </message>
  <message>
   <source>End</source>
   <translation>Ende</translation>
  </message>
  <message>
   <source>End faults and rules</source>
   <translation>Störungen und Regeln beenden</translation>
  </message>
  <message>
   <source>End faults and rules...</source>
   <translation>Störungen und Regeln beenden...</translation>
  </message>
  <message>
   <source>End it</source>
   <translation>Beenden</translation>
  </message>
  <message>
   <source>End the session</source>
   <translation>Sitzung beenden</translation>
  </message>
  <message>
   <source>Ended</source>
   <translation>Beendet</translation>
  </message>
  <message>
   <source>Ends all faults of Kafka programs.</source>
   <translation>Beendet alle Störungen von Kafka-Programmen.</translation>
  </message>
  <message>
   <source>Ends faults that still last.</source>
   <translation>Beendet Fehler, die noch andauern.</translation>
  </message>
  <message>
   <source>Ends the session and seals its recording.</source>
   <translation>Beendet die Sitzung und versiegelt ihre Aufzeichnung.</translation>
  </message>
  <message>
   <source>Enter a name for the new group.</source>
   <translation>Einen Namen für die neue Gruppe eingeben.</translation>
  </message>
  <message>
   <source>Enter a name.</source>
   <translation>Einen Namen eingeben.</translation>
  </message>
  <message>
   <source>Enter goes to this moment, Escape closes.</source>
   <translation>Eingabe geht zu diesem Zeitpunkt, Escape schließt.</translation>
  </message>
  <message>
   <source>Enter how far the clock jumps.</source>
   <translation>Eingeben, wie weit die Uhr springt.</translation>
  </message>
  <message>
   <source>Enter keeps the name; an empty one removes the bookmark.</source>
   <translation>Eingabe behält den Namen; ein leerer entfernt das Lesezeichen.</translation>
  </message>
  <message>
   <source>Enter lists the messages, Escape closes.</source>
   <translation>Eingabe listet die Nachrichten auf, Escape schließt.</translation>
  </message>
  <message>
   <source>Enter runs it, Escape closes.</source>
   <translation>Eingabe führt aus, Esc schließt.</translation>
  </message>
  <message>
   <source>Enter shows it on the canvas, Escape closes.</source>
   <translation>Eingabe zeigt es auf der Zeichenfläche, Escape schließt.</translation>
  </message>
  <message>
   <source>Enter shows the event, Escape closes.</source>
   <translation>Eingabe zeigt das Ereignis, Escape schließt.</translation>
  </message>
  <message>
   <source>Enter shows the message, Escape closes.</source>
   <translation>Eingabe zeigt die Nachricht, Escape schließt.</translation>
  </message>
  <message>
   <source>Enter the absolute path of the folder.</source>
   <translation>Den absoluten Pfad des Ordners eingeben.</translation>
  </message>
  <message>
   <source>Epoch</source>
   <translation>Epoche</translation>
  </message>
  <message>
   <source>Error</source>
   <translation>Fehler</translation>
  </message>
  <message>
   <source>Errors</source>
   <translation>Fehler</translation>
  </message>
  <message>
   <source>Event</source>
   <translation>Ereignis</translation>
  </message>
  <message>
   <source>Events</source>
   <translation>Ereignisse</translation>
  </message>
  <message>
   <source>Events before and after this moment</source>
   <translation>Ereignisse vor und nach diesem Moment</translation>
  </message>
  <message>
   <source>Every box is in its place.</source>
   <translation>Jeder Kasten ist an seinem Platz.</translation>
  </message>
  <message>
   <source>Every command, reports, exit codes.</source>
   <translation>Alle Befehle, Berichte, Exit-Codes.</translation>
  </message>
  <message>
   <source>Every event goes to the session folder.</source>
   <translation>Alle Ereignisse kommen in den Sitzungsordner.</translation>
  </message>
  <message>
   <source>Every event is listed here, in order. {goes_on}</source>
   <translation>Hier steht jedes Ereignis der Reihe nach. {goes_on}</translation>
  </message>
  <message>
   <source>Every message is accounted for, but a guarantee was broken: {promise}</source>
   <translation>Der Verbleib jeder Nachricht ist geklärt, aber eine Zusicherung wurde verletzt: {promise}</translation>
  </message>
  <message>
   <source>Every n-th matching message fails in processing there, until the rule ends.</source>
   <translation>Jede n-te passende Nachricht scheitert dort bei der Verarbeitung, bis die Regel endet.</translation>
  </message>
  <message>
   <source>Every n-th message</source>
   <translation>Jede n-te Nachricht</translation>
  </message>
  <message>
   <source>Every n-th request</source>
   <translation>Jeder n-te Request</translation>
  </message>
  <message>
   <source>Every public class and method of the test kit.</source>
   <translation>Jede öffentliche Klasse und Methode der Testwerkzeuge.</translation>
  </message>
  <message>
   <source>Every restart costs dynamic a rebalance of five seconds, because the group waits until the old member has timed out. All of its members stand still for that long.</source>
   <translation>Jeder Neustart kostet dynamic einen Rebalance von fünf Sekunden, weil die Gruppe wartet, bis das Timeout des alten Mitglieds abgelaufen ist. So lange stehen alle ihre Mitglieder still.</translation>
  </message>
  <message>
   <source>Every subscriber of a topic gets every message, through its own queue. The mailer is three times too slow; its queue is bounded, so it loses the messages that do not fit, and nobody else is affected. The dashboard reads two topics, and takes orders first whenever both have something.</source>
   <translation>Jeder Abonnent eines Topics bekommt jede Nachricht, über eine eigene Queue. Der Mailer ist dreimal zu langsam; seine Queue ist begrenzt, also verliert er die Nachrichten, die nicht hineinpassen, und niemand sonst ist betroffen. Das Dashboard liest zwei Topics und nimmt Bestellungen zuerst, wenn beide etwas haben.</translation>
  </message>
  <message>
   <source>Everybody may use this broker, so nobody may disturb its clients; give it a token, or open one for tests, with EmbeddedBroker or serve --testing.</source>
   <translation>Diesen Broker darf jeder benutzen, also darf niemand seine Clients stören; geben Sie ihm ein Token, oder öffnen Sie einen für Tests, mit EmbeddedBroker oder serve --testing.</translation>
  </message>
  <message>
   <source>Everything</source>
   <translation>Alles</translation>
  </message>
  <message>
   <source>Everything due by then happens.</source>
   <translation>Alles, was bis dahin fällig ist, geschieht.</translation>
  </message>
  <message>
   <source>Everything else is acknowledged at the first attempt.</source>
   <translation>Alles andere wird beim ersten Versuch bestätigt.</translation>
  </message>
  <message>
   <source>Everything except messages</source>
   <translation>Alles außer Nachrichten</translation>
  </message>
  <message>
   <source>Everything that was seen is recorded. The cluster continues in the background, and so does the recording.</source>
   <translation>Alles, was zu sehen war, ist aufgezeichnet. Der Cluster läuft im Hintergrund weiter, und die Aufzeichnung auch.</translation>
  </message>
  <message>
   <source>Evicted</source>
   <translation>Verdrängt</translation>
  </message>
  <message>
   <source>Exactly these words, including the spaces.</source>
   <translation>Genau diese Wörter, einschließlich der Leerzeichen.</translation>
  </message>
  <message>
   <source>Examples</source>
   <translation>Beispiele</translation>
  </message>
  <message>
   <source>Expired</source>
   <translation>Abgelaufen</translation>
  </message>
  <message>
   <source>Expires after</source>
   <translation>Läuft ab nach</translation>
  </message>
  <message>
   <source>Expiring</source>
   <translation>Läuft ab</translation>
  </message>
  <message>
   <source>Explains the open panel, or the canvas.</source>
   <translation>Erklärt das offene Panel oder die Zeichenfläche.</translation>
  </message>
  <message>
   <source>Explanation</source>
   <translation>Erklärung</translation>
  </message>
  <message>
   <source>Export</source>
   <translation>Exportieren</translation>
  </message>
  <message>
   <source>Export report</source>
   <translation>Bericht exportieren</translation>
  </message>
  <message>
   <source>Export report...</source>
   <translation>Bericht exportieren...</translation>
  </message>
  <message>
   <source>Express</source>
   <translation>Express</translation>
  </message>
  <message>
   <source>Extend</source>
   <translation>Verlängern</translation>
  </message>
  <message>
   <source>External clients take part in this session: it can be replayed, but not branched.</source>
   <translation>An dieser Sitzung nehmen externe Clients teil: Sie lässt sich wiedergeben, aber nicht abzweigen.</translation>
  </message>
  <message>
   <source>External clients took part in this session: it can be replayed, but not rerun.</source>
   <translation>An dieser Sitzung haben externe Clients teilgenommen: Sie lässt sich wiedergeben, aber nicht noch einmal ausführen.</translation>
  </message>
  <message>
   <source>FAILED</source>
   <translation>GESCHEITERT</translation>
  </message>
  <message>
   <source>FINISHED</source>
   <translation>ZU ENDE</translation>
  </message>
  <message>
   <source>Factor</source>
   <translation>Faktor</translation>
  </message>
  <message>
   <source>Facts</source>
   <translation>Fakten</translation>
  </message>
  <message>
   <source>Failed</source>
   <translation>Gescheitert</translation>
  </message>
  <message>
   <source>Failing</source>
   <translation>Scheitert</translation>
  </message>
  <message>
   <source>Failures and faults</source>
   <translation>Fehler und Störungen</translation>
  </message>
  <message>
   <source>Falling</source>
   <translation>Fallend</translation>
  </message>
  <message>
   <source>Fan-out</source>
   <translation>Fan-out</translation>
  </message>
  <message>
   <source>Fast</source>
   <translation>Schnell</translation>
  </message>
  <message>
   <source>Fault</source>
   <translation>Störung</translation>
  </message>
  <message>
   <source>Faults</source>
   <translation>Störungen</translation>
  </message>
  <message>
   <source>Faults and user actions</source>
   <translation>Störungen und eigene Aktionen</translation>
  </message>
  <message>
   <source>Faults, alerts</source>
   <translation>Störungen, Alarme</translation>
  </message>
  <message>
   <source>Fetched again</source>
   <translation>Erneut geholt</translation>
  </message>
  <message>
   <source>Fields</source>
   <translation>Felder</translation>
  </message>
  <message>
   <source>Fields, examples and saved filters (Down)</source>
   <translation>Felder, Beispiele und gespeicherte Filter (Pfeil nach unten)</translation>
  </message>
  <message>
   <source>Fields, examples and saved filters.</source>
   <translation>Felder, Beispiele und gespeicherte Filter.</translation>
  </message>
  <message>
   <source>Figure</source>
   <translation>Kennzahl</translation>
  </message>
  <message>
   <source>Figures</source>
   <translation>Zahlen</translation>
  </message>
  <message>
   <source>Figures that differ by at most 2 % or 1 ms count as the same. Differences of up to a tenth, and differences between counts that may be chance, are not judged. Greatest lag and depth are taken from the recorded moments, about one per second.</source>
   <translation>Kennzahlen, die sich um höchstens 2 % oder 1 ms unterscheiden, gelten als gleich. Unterschiede bis zu einem Zehntel und Unterschiede zwischen Anzahlen, die Zufall sein können, werden nicht beurteilt. Größter Rückstand und größte Tiefe stammen aus den aufgezeichneten Momenten, etwa einem je Sekunde.</translation>
  </message>
  <message>
   <source>File</source>
   <translation>Datei</translation>
  </message>
  <message>
   <source>Fill the disk</source>
   <translation>Platte füllen</translation>
  </message>
  <message>
   <source>Fill the disk...</source>
   <translation>Platte füllen...</translation>
  </message>
  <message>
   <source>Filter</source>
   <translation>Filter</translation>
  </message>
  <message>
   <source>Filter by cause, key, payload or origin</source>
   <translation>Nach Ursache, Schlüssel, Payload oder Ursprung filtern</translation>
  </message>
  <message>
   <source>Filter by client</source>
   <translation>Nach Client filtern</translation>
  </message>
  <message>
   <source>Filter by client, API or error</source>
   <translation>Nach Client, API oder Fehler filtern</translation>
  </message>
  <message>
   <source>Filter by group, topic or owner</source>
   <translation>Nach Gruppe, Topic oder Besitzer filtern</translation>
  </message>
  <message>
   <source>Filter by name, time or folder</source>
   <translation>Nach Name, Zeit oder Ordner filtern</translation>
  </message>
  <message>
   <source>Filter by node, state or rack</source>
   <translation>Nach Knoten, Zustand oder Rack filtern</translation>
  </message>
  <message>
   <source>Filter by principal or resource</source>
   <translation>Nach Principal oder Ressource filtern</translation>
  </message>
  <message>
   <source>Filter by subject or topic</source>
   <translation>Nach Subject oder Topic filtern</translation>
  </message>
  <message>
   <source>Filter by title or folder</source>
   <translation>Nach Titel oder Ordner filtern</translation>
  </message>
  <message>
   <source>Filter by topic or queue</source>
   <translation>Nach Topic oder Queue filtern</translation>
  </message>
  <message>
   <source>Filter by topic, group or owner</source>
   <translation>Nach Topic, Gruppe oder Besitzer filtern</translation>
  </message>
  <message>
   <source>Filter help</source>
   <translation>Hilfe zu Filtern</translation>
  </message>
  <message>
   <source>Filter the navigator</source>
   <translation>Den Navigator filtern</translation>
  </message>
  <message>
   <source>Filter the rates</source>
   <translation>Die Raten filtern</translation>
  </message>
  <message>
   <source>Filter the rows</source>
   <translation>Die Zeilen filtern</translation>
  </message>
  <message>
   <source>Filter the sessions</source>
   <translation>Die Sitzungen filtern</translation>
  </message>
  <message>
   <source>Filter {panel}</source>
   <translation>{panel} filtern</translation>
  </message>
  <message>
   <source>Filter: words, holder = builder-1, time_left &lt; 2 s</source>
   <translation>Filter: Wörter, holder = builder-1, time_left &lt; 2 s</translation>
  </message>
  <message>
   <source>Filter: words, key = k1, size &gt; 1 KiB</source>
   <translation>Filter: Wörter, key = k1, size &gt; 1 KiB</translation>
  </message>
  <message>
   <source>Filter: words, kind = nacked, time &gt; 00:31</source>
   <translation>Filter: Wörter, kind = nacked, time &gt; 00:31</translation>
  </message>
  <message>
   <source>Filter: words, reader = builds, why = nacked</source>
   <translation>Filter: Wörter, reader = builds, why = nacked</translation>
  </message>
  <message>
   <source>Filter: words, topic = orders, size &gt; 1 MiB</source>
   <translation>Filter: Wörter, topic = orders, size &gt; 1 MiB</translation>
  </message>
  <message>
   <source>Filter: {filter_text}</source>
   <translation>Filter: {filter_text}</translation>
  </message>
  <message>
   <source>Filtering and sorting...</source>
   <translation>Wird gefiltert und sortiert...</translation>
  </message>
  <message>
   <source>Filters</source>
   <translation>Filter</translation>
  </message>
  <message>
   <source>Find...</source>
   <translation>Suchen...</translation>
  </message>
  <message>
   <source>First (session)</source>
   <translation>Erste (Sitzung)</translation>
  </message>
  <message>
   <source>First delivery, maximum</source>
   <translation>Erste Zustellung, Maximum</translation>
  </message>
  <message>
   <source>First delivery, p50</source>
   <translation>Erste Zustellung, p50</translation>
  </message>
  <message>
   <source>First delivery, p99</source>
   <translation>Erste Zustellung, p99</translation>
  </message>
  <message>
   <source>First delivery, p99.9</source>
   <translation>Erste Zustellung, p99,9</translation>
  </message>
  <message>
   <source>First session</source>
   <translation>Erste Sitzung</translation>
  </message>
  <message>
   <source>Fit to window</source>
   <translation>Ins Fenster einpassen</translation>
  </message>
  <message>
   <source>Five members share eight partitions, but the hot one still has one owner. A partition is the smallest unit of load that a group can assign.</source>
   <translation>Fünf Mitglieder teilen sich acht Partitionen, aber die heiße hat weiterhin einen Besitzer. Eine Partition ist der kleinste Teil der Last, den eine Gruppe verteilen kann.</translation>
  </message>
  <message>
   <source>Five queues with room for 20 messages, each with a producer that is faster than its worker. A policy decides what happens when a queue is full: make the producer wait, refuse the message, drop the new message, drop the oldest, or drop a less urgent one. None of them is free: you lose either time or messages.</source>
   <translation>Fünf Queues mit Platz für 20 Nachrichten, jede mit einem Producer, der schneller ist als ihr Worker. Eine Regel entscheidet, was geschieht, wenn eine Queue voll ist: den Producer warten lassen, die Nachricht ablehnen, die neue verwerfen, die älteste verwerfen oder eine weniger dringende. Keine ist umsonst: Man verliert Zeit oder Nachrichten.</translation>
  </message>
  <message>
   <source>Flow</source>
   <translation>Fluss</translation>
  </message>
  <message>
   <source>Focus</source>
   <translation>Fokus</translation>
  </message>
  <message>
   <source>Fold the lesson</source>
   <translation>Lektion einklappen</translation>
  </message>
  <message>
   <source>Fold the panels</source>
   <translation>Panels einklappen</translation>
  </message>
  <message>
   <source>Fold the timeline</source>
   <translation>Zeitleiste einklappen</translation>
  </message>
  <message>
   <source>Fold: {title}</source>
   <translation>Einklappen: {title}</translation>
  </message>
  <message>
   <source>Folder</source>
   <translation>Ordner</translation>
  </message>
  <message>
   <source>Folder for the report</source>
   <translation>Ordner für den Bericht</translation>
  </message>
  <message>
   <source>Follow</source>
   <translation>Folgen</translation>
  </message>
  <message>
   <source>Follow live</source>
   <translation>Live folgen</translation>
  </message>
  <message>
   <source>Follow live (Alt+Right)</source>
   <translation>Live folgen (Alt+Rechts)</translation>
  </message>
  <message>
   <source>Follow live again (Alt+Right).</source>
   <translation>Wieder live folgen (Alt+Rechts).</translation>
  </message>
  <message>
   <source>Follow the messages from left to right: producers, topics, and groups of consumers.</source>
   <translation>Die Nachrichten von links nach rechts verfolgen: Producer, Topics und Consumer-Gruppen.</translation>
  </message>
  <message>
   <source>For</source>
   <translation>Für</translation>
  </message>
  <message>
   <source>For at least</source>
   <translation>Mindestens</translation>
  </message>
  <message>
   <source>For the first forty seconds there are enough tokens, and messages pass as they come.</source>
   <translation>In den ersten vierzig Sekunden gibt es genug Token, und Nachrichten gehen durch, wie sie kommen.</translation>
  </message>
  <message>
   <source>Forms</source>
   <translation>Formate</translation>
  </message>
  <message>
   <source>Forward 1 s</source>
   <translation>1 s vor</translation>
  </message>
  <message>
   <source>Forward 10 s</source>
   <translation>10 s vor</translation>
  </message>
  <message>
   <source>Forward in the inspector</source>
   <translation>Vor im Inspektor</translation>
  </message>
  <message>
   <source>Four members of floor work, on two partitions.</source>
   <translation>Vier Mitglieder von floor arbeiten, an zwei Partitionen.</translation>
  </message>
  <message>
   <source>Four painters take messages from the queue.</source>
   <translation>Vier Painter nehmen Nachrichten aus der Queue.</translation>
  </message>
  <message>
   <source>Frame {cost} ms, late {late} ms, frames dropped {dropped}</source>
   <translation>Bild {cost} ms, {late} ms zu spät, {dropped} ausgelassen</translation>
  </message>
  <message>
   <source>From</source>
   <translation>Von</translation>
  </message>
  <message>
   <source>From here</source>
   <translation>Ab hier</translation>
  </message>
  <message>
   <source>From here on it is {place}</source>
   <translation>Von hier an ist es {place}</translation>
  </message>
  <message>
   <source>From its report:</source>
   <translation>Aus ihrem Bericht:</translation>
  </message>
  <message>
   <source>From offset...</source>
   <translation>Ab Offset...</translation>
  </message>
  <message>
   <source>From second 20 to 40, shop-b's orders are refused and shop-a's are not. From 40 on, both are accepted.</source>
   <translation>Von Sekunde 20 bis 40 werden die Bestellungen von shop-b abgelehnt, die von shop-a nicht. Ab 40 werden beide angenommen.</translation>
  </message>
  <message>
   <source>From second 31 on, the lag of booked also rises for the shop's messages, although they are committed.</source>
   <translation>Ab Sekunde 31 steigt der Rückstand von booked auch für die Nachrichten des Ladens, obwohl sie abgeschlossen sind.</translation>
  </message>
  <message>
   <source>From second 60 on, it no longer falls to zero. From 120 on, the slow clerk catches up, which takes until 200.</source>
   <translation>Ab Sekunde 60 fällt er nicht mehr auf null. Ab 120 holt der langsame Clerk auf, was bis 200 dauert.</translation>
  </message>
  <message>
   <source>From session time</source>
   <translation>Ab Sitzungszeit</translation>
  </message>
  <message>
   <source>From the base offset on; after compaction, not every offset has a message.</source>
   <translation>Ab dem Basis-Offset; nach einer Kompaktierung gibt es nicht zu jedem Offset eine Nachricht.</translation>
  </message>
  <message>
   <source>From the beginning, with a new seed</source>
   <translation>Von Anfang an, mit neuem Seed</translation>
  </message>
  <message>
   <source>From the beginning, with the same seed</source>
   <translation>Von Anfang an, mit demselben Seed</translation>
  </message>
  <message>
   <source>From the request to its reply, in wall time, including waiting for messages.</source>
   <translation>Vom Request bis zur Antwort in Wanduhrzeit, einschließlich des Wartens auf Nachrichten.</translation>
  </message>
  <message>
   <source>From then on the bucket is empty, and the eager producers queue up, first come, first served.</source>
   <translation>Von da an ist der Eimer leer, und die eifrigen Producer stehen an: Wer zuerst kommt, mahlt zuerst.</translation>
  </message>
  <message>
   <source>From time...</source>
   <translation>Ab Zeit...</translation>
  </message>
  <message>
   <source>Full</source>
   <translation>Voll</translation>
  </message>
  <message>
   <source>Full height</source>
   <translation>Ganze Höhe</translation>
  </message>
  <message>
   <source>Full height.</source>
   <translation>Ganze Höhe.</translation>
  </message>
  <message>
   <source>Full screen with large text.</source>
   <translation>Vollbild mit großer Schrift.</translation>
  </message>
  <message>
   <source>Gaps</source>
   <translation>Lücken</translation>
  </message>
  <message>
   <source>Gaps in the recording</source>
   <translation>Lücken der Aufzeichnung</translation>
  </message>
  <message>
   <source>Generation</source>
   <translation>Generation</translation>
  </message>
  <message>
   <source>Generation {generation}</source>
   <translation>Generation {generation}</translation>
  </message>
  <message>
   <source>Give both topics three partitions. Then range is fair; when is it not?</source>
   <translation>Geben Sie beiden Topics drei Partitionen. Dann ist range gerecht; wann ist es das nicht?</translation>
  </message>
  <message>
   <source>Give meter another topic. A full disk affects everybody; a slow reader affects only its own topic.</source>
   <translation>Geben Sie meter ein anderes Topic. Eine volle Platte trifft alle, ein langsamer Leser nur sein eigenes Topic.</translation>
  </message>
  <message>
   <source>Give orders one partition in the file. Now all orders are in one sequence, and packer-2 has nothing to do.</source>
   <translation>Geben Sie orders in der Datei eine einzige Partition. Nun stehen alle Bestellungen in einer Reihe, und packer-2 hat nichts zu tun.</translation>
  </message>
  <message>
   <source>Give painters a prefetch of 10. What happens to all ten when one of them dies?</source>
   <translation>Geben Sie painters einen Prefetch von 10. Was geschieht mit allen zehn, wenn einer stirbt?</translation>
  </message>
  <message>
   <source>Give patient one partition in the file. Its batches are four times as large, because a batch never spans two partitions.</source>
   <translation>Geben Sie patient in der Datei eine einzige Partition. Seine Batches sind viermal so groß, denn ein Batch geht nie über zwei Partitionen.</translation>
  </message>
  <message>
   <source>Give strict two doctors (count 2). Priorities matter only when there is not enough capacity for all.</source>
   <translation>Geben Sie strict zwei Ärzte (count 2). Prioritäten zählen nur, wenn es nicht für alle reicht.</translation>
  </message>
  <message>
   <source>Give the producer of refuse a retry_ms of 500. Does it lose less? What happens to the messages behind?</source>
   <translation>Geben Sie dem Producer von refuse ein retry_ms von 500. Verliert er weniger? Was geschieht mit den Nachrichten dahinter?</translation>
  </message>
  <message>
   <source>Given up by</source>
   <translation>Aufgegeben von</translation>
  </message>
  <message>
   <source>Gives Kafka programs delays, errors, lost replies.</source>
   <translation>Beschert Kafka-Programmen Verzögerungen, Fehler und verlorene Antworten.</translation>
  </message>
  <message>
   <source>Go</source>
   <translation>Los</translation>
  </message>
  <message>
   <source>Go back to a moment before that: click the timeline or press Ctrl+J.</source>
   <translation>Zu einem Moment davor zurückgehen: die Zeitleiste anklicken oder Strg+J drücken.</translation>
  </message>
  <message>
   <source>Go between</source>
   <translation>Dazwischengehen</translation>
  </message>
  <message>
   <source>Go between...</source>
   <translation>Dazwischengehen...</translation>
  </message>
  <message>
   <source>Go on writing</source>
   <translation>Weiterschreiben</translation>
  </message>
  <message>
   <source>Go to a moment</source>
   <translation>Zu einem Zeitpunkt gehen</translation>
  </message>
  <message>
   <source>Go to a moment...</source>
   <translation>Zu einem Zeitpunkt gehen...</translation>
  </message>
  <message>
   <source>Go to the line</source>
   <translation>Zur Zeile gehen</translation>
  </message>
  <message>
   <source>Goes to</source>
   <translation>Geht an</translation>
  </message>
  <message>
   <source>Goes to the filter of the open panel.</source>
   <translation>Geht zum Filter des offenen Panels.</translation>
  </message>
  <message>
   <source>Goes to the time of the chosen event.</source>
   <translation>Geht zur Zeit des gewählten Ereignisses.</translation>
  </message>
  <message>
   <source>Gone</source>
   <translation>Weg</translation>
  </message>
  <message>
   <source>Gone since</source>
   <translation>Weg seit</translation>
  </message>
  <message>
   <source>Gone: {nodes}. {note}</source>
   <translation>Weg: {nodes}. {note}</translation>
  </message>
  <message>
   <source>Greatest depth</source>
   <translation>Größte Tiefe</translation>
  </message>
  <message>
   <source>Greatest lag</source>
   <translation>Größter Rückstand</translation>
  </message>
  <message>
   <source>Group</source>
   <translation>Gruppe</translation>
  </message>
  <message>
   <source>Group of the history</source>
   <translation>Gruppe des Verlaufs</translation>
  </message>
  <message>
   <source>Group protocols</source>
   <translation>Gruppenprotokolle</translation>
  </message>
  <message>
   <source>Group state</source>
   <translation>Zustand der Gruppe</translation>
  </message>
  <message>
   <source>Group {group}
Below: the letter of the consumer that reads each partition for it.</source>
   <translation>Gruppe {group}
Darunter: der Buchstabe des Consumers, der jede Partition für sie liest.</translation>
  </message>
  <message>
   <source>Group {group} was read by a program that is not known to be in it: what it was given is not judged.</source>
   <translation>Die Gruppe {group} hat ein Programm gelesen, von dem nicht bekannt ist, dass es zu ihr gehört: Was es bekam, wird nicht beurteilt.</translation>
  </message>
  <message>
   <source>Group {name}, {state}, generation {generation}, {members}, {lag}</source>
   <translation>Gruppe {name}, {state}, Generation {generation}, {members}, {lag}</translation>
  </message>
  <message>
   <source>Groups</source>
   <translation>Gruppen</translation>
  </message>
  <message>
   <source>Groups and consumers</source>
   <translation>Gruppen und Consumer</translation>
  </message>
  <message>
   <source>HTTP</source>
   <translation>HTTP</translation>
  </message>
  <message>
   <source>Half of all messages carry one key and go to one partition. Its owner is always busy; the other counters mostly wait.</source>
   <translation>Die Hälfte aller Nachrichten trägt denselben Schlüssel und kommt in dieselbe Partition. Ihr Besitzer ist ständig beschäftigt; die anderen Counter warten meist.</translation>
  </message>
  <message>
   <source>Half of all messages carry one key: a celebrity, a big customer, a default value that somebody forgot. They all go to one partition, and a partition has one owner in a group, so one of the four counters is overloaded while three wait for work.</source>
   <translation>Die Hälfte aller Nachrichten trägt einen Schlüssel: eine Berühmtheit, ein Großkunde, ein Standardwert, den jemand vergessen hat. Alle gehen in eine Partition, und eine Partition hat in einer Gruppe einen Besitzer; also ist einer der vier counters überlastet, während drei auf Arbeit warten.</translation>
  </message>
  <message>
   <source>Has all partitions to itself</source>
   <translation>Hat alle Partitionen für sich</translation>
  </message>
  <message>
   <source>Has no value: deletes its key in a compacted topic.</source>
   <translation>Hat keinen Wert: löscht ihren Schlüssel in einem kompaktierten Topic.</translation>
  </message>
  <message>
   <source>Hatched: nothing committed yet. Hatched in amber: no owner while the group rebalances.</source>
   <translation>Schraffiert: noch nichts committet. Gelb schraffiert: kein Besitzer während des Rebalance.</translation>
  </message>
  <message>
   <source>Header {number} has no colon; write it as name: value.</source>
   <translation>Header {number} hat keinen Doppelpunkt; als Name: Wert schreiben.</translation>
  </message>
  <message>
   <source>Header {number} has no name; write it as name: value.</source>
   <translation>Header {number} hat keinen Namen; als Name: Wert schreiben.</translation>
  </message>
  <message>
   <source>Headers</source>
   <translation>Header</translation>
  </message>
  <message>
   <source>Heartbeat</source>
   <translation>Heartbeat</translation>
  </message>
  <message>
   <source>Heartbeats get lost on their way.</source>
   <translation>Heartbeats gehen unterwegs verloren.</translation>
  </message>
  <message>
   <source>Help</source>
   <translation>Hilfe</translation>
  </message>
  <message>
   <source>Help for the canvas</source>
   <translation>Hilfe zur Zeichenfläche</translation>
  </message>
  <message>
   <source>Help for this panel</source>
   <translation>Hilfe zu diesem Panel</translation>
  </message>
  <message>
   <source>Hex</source>
   <translation>Hex</translation>
  </message>
  <message>
   <source>Hidden until the table is wider: {names}</source>
   <translation>Verborgen, bis die Tabelle breiter ist: {names}</translation>
  </message>
  <message>
   <source>Hide explanation</source>
   <translation>Erklärung ausblenden</translation>
  </message>
  <message>
   <source>History</source>
   <translation>Verlauf</translation>
  </message>
  <message>
   <source>Holder</source>
   <translation>Halter</translation>
  </message>
  <message>
   <source>Holds</source>
   <translation>Hält</translation>
  </message>
  <message>
   <source>Hot key</source>
   <translation>Heißer Schlüssel</translation>
  </message>
  <message>
   <source>Hot keys</source>
   <translation>Heiße Schlüssel</translation>
  </message>
  <message>
   <source>Hot keys of {topic}</source>
   <translation>Heiße Schlüssel von {topic}</translation>
  </message>
  <message>
   <source>How far each group has read.</source>
   <translation>Wie weit jede Gruppe gelesen hat.</translation>
  </message>
  <message>
   <source>How fast</source>
   <translation>Wie schnell</translation>
  </message>
  <message>
   <source>How fast a producer sends.</source>
   <translation>Wie schnell ein Producer sendet.</translation>
  </message>
  <message>
   <source>How fast the lag rises or falls, in messages/s, over the last five seconds.</source>
   <translation>Wie schnell der Rückstand in den letzten fünf Sekunden steigt oder fällt, in Nachrichten/s.</translation>
  </message>
  <message>
   <source>How long</source>
   <translation>Wie lange</translation>
  </message>
  <message>
   <source>How many</source>
   <translation>Wie viele</translation>
  </message>
  <message>
   <source>How many members have owned this partition so far.</source>
   <translation>Wie viele Mitglieder diese Partition bisher besessen haben.</translation>
  </message>
  <message>
   <source>How much Kafka clients may send or fetch.</source>
   <translation>Wie viel Kafka-Clients senden oder holen dürfen.</translation>
  </message>
  <message>
   <source>How often</source>
   <translation>Wie oft</translation>
  </message>
  <message>
   <source>How often it has been sent back to its origin; a high count indicates a loop.</source>
   <translation>Wie oft er schon an seinen Ursprung zurückgeschickt wurde; eine hohe Zahl deutet auf eine Schleife hin.</translation>
  </message>
  <message>
   <source>How often the reader had received it by then.</source>
   <translation>Wie oft der Leser sie bis dahin bekommen hatte.</translation>
  </message>
  <message>
   <source>Id</source>
   <translation>Id</translation>
  </message>
  <message>
   <source>Idle</source>
   <translation>Ruht</translation>
  </message>
  <message>
   <source>If a consumer acknowledges a message before it has finished with it, the broker counts the message as done.</source>
   <translation>Bestätigt ein Consumer eine Nachricht, bevor er mit ihr fertig ist, gilt sie für den Broker als erledigt.</translation>
  </message>
  <message>
   <source>If one key is too much for one consumer, only a different key or faster processing helps.</source>
   <translation>Ist ein Schlüssel für einen Consumer zu viel, hilft nur ein anderer Schlüssel oder schnellere Verarbeitung.</translation>
  </message>
  <message>
   <source>In (per s)</source>
   <translation>Ein (pro s)</translation>
  </message>
  <message>
   <source>In Events, one row of the patient topic is a whole batch; the Messages column says how many messages it contains.</source>
   <translation>Unter Ereignisse ist eine Zeile des Topics patient ein ganzer Batch; die Spalte Nachrichten sagt, wie viele er enthält.</translation>
  </message>
  <message>
   <source>In Log on disk the patient topic has the same messages in fewer bytes, because each batch has only one header.</source>
   <translation>Unter Log auf der Platte hat das Topic patient dieselben Nachrichten in weniger Bytes, denn jeder Batch hat nur einen Kopf.</translation>
  </message>
  <message>
   <source>In a stream, $number in the value is the number of each message, from 0.</source>
   <translation>In einem Strom steht $number im Wert für die Nummer jeder Nachricht, ab 0.</translation>
  </message>
  <message>
   <source>In ageing, everyone is seen in the end. The price is that emergencies wait, too.</source>
   <translation>In ageing kommt am Ende jeder an die Reihe. Der Preis ist, dass auch Notfälle warten.</translation>
  </message>
  <message>
   <source>In both groups, nobody reads its partitions until its session has timed out. In the classic protocol, each member sets its own timeout; in the consumer protocol, the broker sets one for all.</source>
   <translation>In beiden Gruppen liest niemand seine Partitionen, bis seine Session abgelaufen ist. Im klassischen Protokoll bestimmt jedes Mitglied sein Timeout selbst, im Consumer-Protokoll bestimmt es der Broker für alle.</translation>
  </message>
  <message>
   <source>In classic, one member was the leader and assigned the partitions. In modern, the broker did so, member by member as they joined, and told each one in the reply to a heartbeat.</source>
   <translation>In classic war ein Mitglied der Leader und hat die Partitionen zugewiesen. In modern tat das der Broker, Mitglied für Mitglied bei jedem Beitritt, und teilte es jedem in der Antwort auf einen Heartbeat mit.</translation>
  </message>
  <message>
   <source>In each rebalance, all partitions of classic have no reader for a moment; in modern, only those that move.</source>
   <translation>In jedem Rebalance haben alle Partitionen von classic einen Moment lang keinen Leser, in modern nur die, die wandern.</translation>
  </message>
  <message>
   <source>In flight</source>
   <translation>In Arbeit</translation>
  </message>
  <message>
   <source>In flight, like all messages in this list.</source>
   <translation>In Arbeit, wie alle Nachrichten in dieser Liste.</translation>
  </message>
  <message>
   <source>In hand</source>
   <translation>In Händen</translation>
  </message>
  <message>
   <source>In lines, a partition waits for a new owner.</source>
   <translation>In lines wartet eine Partition auf einen neuen Besitzer.</translation>
  </message>
  <message>
   <source>In modern, one partition moves.</source>
   <translation>In modern wechselt eine Partition den Besitzer.</translation>
  </message>
  <message>
   <source>In orders, some partitions get more than others, because ten customers cannot be divided evenly among four partitions.</source>
   <translation>In orders bekommen manche Partitionen mehr als andere, weil sich zehn Kunden nicht gleichmäßig auf vier Partitionen verteilen lassen.</translation>
  </message>
  <message>
   <source>In ranged, one member owns four partitions and the others two each; in the sticky groups they own three, three and two.</source>
   <translation>In ranged besitzt ein Mitglied vier Partitionen und die anderen je zwei; in den Sticky-Gruppen sind es drei, drei und zwei.</translation>
  </message>
  <message>
   <source>In readings, all four partitions grow alike.</source>
   <translation>In readings wachsen alle vier Partitionen gleich.</translation>
  </message>
  <message>
   <source>In strict, no patient of level 2 is seen after the first minute. Emergencies are seen at once.</source>
   <translation>In strict kommt nach der ersten Minute kein Patient der Stufe 2 an die Reihe. Notfälle kommen sofort dran.</translation>
  </message>
  <message>
   <source>In sync</source>
   <translation>Synchron</translation>
  </message>
  <message>
   <source>In the classic protocol with an eager assignor, everyone waits for the slowest member. In the consumer protocol, only the new owner of a partition waits, for its old owner.</source>
   <translation>Im klassischen Protokoll mit einem Eager-Assignor warten alle auf das langsamste Mitglied. Im Consumer-Protokoll wartet nur der neue Besitzer einer Partition auf den alten.</translation>
  </message>
  <message>
   <source>In the pause, the alert ends by itself.</source>
   <translation>In der Pause endet der Alarm von selbst.</translation>
  </message>
  <message>
   <source>In this second</source>
   <translation>In dieser Sekunde</translation>
  </message>
  <message>
   <source>In this state</source>
   <translation>In diesem Zustand</translation>
  </message>
  <message>
   <source>In turn, the slow worker gets half of all messages until its 20 places are full; they wait there for eight seconds, while the quick worker has time to spare.</source>
   <translation>In turn bekommt der langsame Worker die Hälfte aller Nachrichten, bis seine 20 Plätze voll sind; dort warten sie acht Sekunden, während der schnelle Worker Zeit übrig hat.</translation>
  </message>
  <message>
   <source>In {group}</source>
   <translation>In {group}</translation>
  </message>
  <message>
   <source>In {name}</source>
   <translation>In {name}</translation>
  </message>
  <message>
   <source>In-sync replicas grown</source>
   <translation>Mehr Replikate synchron</translation>
  </message>
  <message>
   <source>In-sync replicas shrunk</source>
   <translation>Weniger Replikate synchron</translation>
  </message>
  <message>
   <source>Incident</source>
   <translation>Vorfall</translation>
  </message>
  <message>
   <source>Includes ready, delayed and in-flight messages</source>
   <translation>Umfasst bereite, verzögerte und in Arbeit befindliche Nachrichten</translation>
  </message>
  <message>
   <source>Index</source>
   <translation>Index</translation>
  </message>
  <message>
   <source>Inspector</source>
   <translation>Inspektor</translation>
  </message>
  <message>
   <source>It accounts for every message of each group and queue.</source>
   <translation>Das gibt über jede Nachricht jeder Gruppe und Queue Auskunft.</translation>
  </message>
  <message>
   <source>It acknowledged nothing, so its lease expired after four seconds. The message was delivered to another painter, as attempt 2.</source>
   <translation>Er hat nichts bestätigt, also lief seine Lease nach vier Sekunden ab. Die Nachricht wurde einem anderen Painter zugestellt, als Versuch 2.</translation>
  </message>
  <message>
   <source>It applies from the next message on.</source>
   <translation>Es gilt ab der nächsten Nachricht.</translation>
  </message>
  <message>
   <source>It applies to Kafka and HTTP, in addition to a listener's access file. A denial always wins. Where no token is needed, everyone may do everything that no ACL denies.</source>
   <translation>Sie gilt für Kafka und HTTP, neben der Zugriffsdatei eines Listeners. Was verbietet, hat Vorrang. Wo kein Token nötig ist, dürfen alle alles, was keine ACL verbietet.</translation>
  </message>
  <message>
   <source>It contains an action that this version does not know: {error}</source>
   <translation>Sie enthält eine Aktion, die diese Version nicht kennt: {error}</translation>
  </message>
  <message>
   <source>It currently sends {rate} messages/s. Its target's limit still applies.</source>
   <translation>Er sendet zurzeit {rate} Nachrichten/s. Die Grenze seines Ziels gilt weiterhin.</translation>
  </message>
  <message>
   <source>It does not exist at this moment.</source>
   <translation>Das gibt es in diesem Moment nicht.</translation>
  </message>
  <message>
   <source>It failed with: {cause}. A redrive appends it to {origin} as edited here.</source>
   <translation>Er scheiterte mit: {cause}. Ein Redrive hängt ihn so an {origin} an, wie er hier bearbeitet ist.</translation>
  </message>
  <message>
   <source>It gets every message of the topic from now on, and hands each to one worker at a time.</source>
   <translation>Sie bekommt ab jetzt jede Nachricht des Topics und gibt jede immer nur einem Worker.</translation>
  </message>
  <message>
   <source>It has a permanent name, its group.instance.id. The group gives it back its partitions in the same generation.</source>
   <translation>Es hat einen festen Namen, seine group.instance.id. Die Gruppe gibt ihm in derselben Generation seine Partitionen zurück.</translation>
  </message>
  <message>
   <source>It has to be HOST:PORT of a Kafka cluster.</source>
   <translation>Es muss HOST:PORT eines Kafka-Clusters sein.</translation>
  </message>
  <message>
   <source>It has {count}. Keys may land in other partitions from then on. This cannot be undone.</source>
   <translation>Es hat {count}. Schlüssel können danach in anderen Partitionen landen. Das lässt sich nicht rückgängig machen.</translation>
  </message>
  <message>
   <source>It is already open.</source>
   <translation>Es ist schon offen.</translation>
  </message>
  <message>
   <source>It is closed</source>
   <translation>Es ist geschlossen</translation>
  </message>
  <message>
   <source>It is ending.</source>
   <translation>Es endet.</translation>
  </message>
  <message>
   <source>It is in its queue again with three new attempts. The bug is still there, so it will come back; the column Redrives counts how often.</source>
   <translation>Sie ist wieder in ihrer Queue, mit drei neuen Versuchen. Der Fehler ist noch da, also kommt sie zurück; die Spalte Redrives zählt, wie oft.</translation>
  </message>
  <message>
   <source>It is locked.</source>
   <translation>Er ist gesperrt.</translation>
  </message>
  <message>
   <source>It is no longer observed. The broker itself goes on.</source>
   <translation>Er wird nicht mehr beobachtet. Der Broker selbst läuft weiter.</translation>
  </message>
  <message>
   <source>It is no longer watched.</source>
   <translation>Darauf wird nicht mehr geachtet.</translation>
  </message>
  <message>
   <source>It is too long to check here: the limit is a million characters.</source>
   <translation>Er ist zu lang, um hier geprüft zu werden: höchstens eine Million Zeichen.</translation>
  </message>
  <message>
   <source>It joins its group at once, and the group shares out its partitions again.</source>
   <translation>Er tritt seiner Gruppe sofort bei, und die Gruppe verteilt ihre Partitionen neu.</translation>
  </message>
  <message>
   <source>It owns two partitions, which nobody else may read. Their lag no longer falls to zero in the pauses.</source>
   <translation>Ihm gehören zwei Partitionen, die sonst niemand lesen darf. Ihr Rückstand fällt in den Pausen nicht mehr auf null.</translation>
  </message>
  <message>
   <source>It runs as a job; closing this dialog does not stop it.</source>
   <translation>Er läuft als Auftrag; das Schließen dieses Dialogs hält ihn nicht an.</translation>
  </message>
  <message>
   <source>It says what each rule would assign now, and how much it would move.</source>
   <translation>Es sagt, was jede Regel jetzt zuweisen und wie viel sie bewegen würde.</translation>
  </message>
  <message>
   <source>It was first appended to its queue and then removed from the dead letters, so an interrupted redrive loses nothing. Its attempts start over; its redrives are counted.</source>
   <translation>Er wurde erst an seine Queue angehängt und dann aus den Dead Letters entfernt; ein unterbrochener Redrive verliert also nichts. Seine Versuche beginnen von vorn; seine Redrives werden gezählt.</translation>
  </message>
  <message>
   <source>It watches the same figure, but for ten seconds (for_s). No burst lasts that long, so it is raised only if the group cannot keep up.</source>
   <translation>Er beobachtet denselben Wert, aber über zehn Sekunden (for_s). So lange dauert kein Schub, also wird er nur ausgelöst, wenn die Gruppe nicht mitkommt.</translation>
  </message>
  <message>
   <source>Its committed offsets stay, so it can continue from there.</source>
   <translation>Ihre committeten Offsets bleiben erhalten, sodass sie von dort weiterlesen kann.</translation>
  </message>
  <message>
   <source>Its consumers stop and start again.</source>
   <translation>Ihre Consumer stoppen und starten wieder.</translation>
  </message>
  <message>
   <source>Its earlier history is not shown: this session is not recorded, and older events are gone.</source>
   <translation>Ihre frühere Geschichte ist nicht zu sehen: Diese Sitzung wird nicht aufgezeichnet, und ältere Ereignisse sind nicht mehr da.</translation>
  </message>
  <message>
   <source>Its group considers it dead while it continues to process.</source>
   <translation>Seine Gruppe hält ihn für tot, während er weiterarbeitet.</translation>
  </message>
  <message>
   <source>Its lag falls by more than it reads, because lag counts offsets, and most of them are empty.</source>
   <translation>Sein Rückstand fällt um mehr, als er liest, denn der Rückstand zählt Offsets, und die meisten davon sind leer.</translation>
  </message>
  <message>
   <source>Its lanes, or a single line.</source>
   <translation>Ihre Spuren oder eine Zeile.</translation>
  </message>
  <message>
   <source>Its limits are made with the subscription.</source>
   <translation>Ihre Grenzen werden mit der Subscription festgelegt.</translation>
  </message>
  <message>
   <source>Its messages stay in the log, and a marker behind them says that they were aborted. screens has already processed them; the clerks of booked skip them.</source>
   <translation>Ihre Nachrichten bleiben im Log, und eine Markierung dahinter zeigt an, dass sie abgebrochen wurden. screens hat sie schon verarbeitet; die Mitglieder von booked überspringen sie.</translation>
  </message>
  <message>
   <source>Its offset in the dead-letter queue.</source>
   <translation>Sein Offset in der Dead-Letter-Queue.</translation>
  </message>
  <message>
   <source>Its owners from the beginning of the session to the moment shown; gaps are times without an owner.</source>
   <translation>Ihre Besitzer vom Anfang der Sitzung bis zum gezeigten Moment; in einer Lücke hat sie keinen.</translation>
  </message>
  <message>
   <source>Its scenario cannot be run again: {problem}</source>
   <translation>Ihr Szenario lässt sich nicht noch einmal ausführen: {problem}</translation>
  </message>
  <message>
   <source>Its timeout_ms of fifteen seconds has passed. The last stable offset moves on, and booked gets the messages that were waiting.</source>
   <translation>Ihr timeout_ms von fünfzehn Sekunden ist abgelaufen. Der Last Stable Offset rückt vor, und booked bekommt die wartenden Nachrichten.</translation>
  </message>
  <message>
   <source>Its transaction has the usual timeout of a minute. If the shop is back before then, it starts a new session with its transactional id, and the broker aborts what the previous session had left open.</source>
   <translation>Seine Transaktion hat das übliche Timeout von einer Minute. Ist shop vorher zurück, beginnt es mit seiner Transactional Id eine neue Sitzung, und der Broker bricht ab, was die vorige offen gelassen hat.</translation>
  </message>
  <message>
   <source>JSON</source>
   <translation>JSON</translation>
  </message>
  <message>
   <source>Jobs</source>
   <translation>Aufträge</translation>
  </message>
  <message>
   <source>Joined</source>
   <translation>Beigetreten</translation>
  </message>
  <message>
   <source>Joining</source>
   <translation>Tritt bei</translation>
  </message>
  <message>
   <source>Kafka</source>
   <translation>Kafka</translation>
  </message>
  <message>
   <source>Kafka clients</source>
   <translation>Kafka-Clients</translation>
  </message>
  <message>
   <source>Kafka settings</source>
   <translation>Einstellungen von Kafka</translation>
  </message>
  <message>
   <source>Keep</source>
   <translation>Behalten</translation>
  </message>
  <message>
   <source>Keep Spark ready for the next report (about 1 GB)</source>
   <translation>Spark für den nächsten Bericht bereithalten (etwa 1 GB)</translation>
  </message>
  <message>
   <source>Keep at most</source>
   <translation>Höchstens behalten</translation>
  </message>
  <message>
   <source>Keep for</source>
   <translation>Behalten für</translation>
  </message>
  <message>
   <source>Keep the session</source>
   <translation>Sitzung behalten</translation>
  </message>
  <message>
   <source>Kept</source>
   <translation>Behalten</translation>
  </message>
  <message>
   <source>Key</source>
   <translation>Schlüssel</translation>
  </message>
  <message>
   <source>Key in {topic}/{partition}, messages: {count:,}</source>
   <translation>Schlüssel in {topic}/{partition}, Nachrichten: {count:,}</translation>
  </message>
  <message>
   <source>Keys</source>
   <translation>Tasten</translation>
  </message>
  <message>
   <source>Keys and partitions</source>
   <translation>Schlüssel und Partitionen</translation>
  </message>
  <message>
   <source>Keys go by</source>
   <translation>Partition nach</translation>
  </message>
  <message>
   <source>KiB/s</source>
   <translation>KiB/s</translation>
  </message>
  <message>
   <source>Kind</source>
   <translation>Art</translation>
  </message>
  <message>
   <source>LIVE</source>
   <translation>LIVE</translation>
  </message>
  <message>
   <source>Lag</source>
   <translation>Rückstand</translation>
  </message>
  <message>
   <source>Lag (messages)</source>
   <translation>Rückstand (Nachrichten)</translation>
  </message>
  <message>
   <source>Lag (s)</source>
   <translation>Rückstand (s)</translation>
  </message>
  <message>
   <source>Lag and catch-up</source>
   <translation>Rückstand und Aufholen</translation>
  </message>
  <message>
   <source>Lag at the end</source>
   <translation>Rückstand am Ende</translation>
  </message>
  <message>
   <source>Lag falls to zero in the pause.</source>
   <translation>Der Rückstand fällt in der Pause auf null.</translation>
  </message>
  <message>
   <source>Lag falls to zero while the disk is full. Commits are stored elsewhere, so they continue.</source>
   <translation>Der Rückstand fällt auf null, während die Platte voll ist. Commits werden anderswo gespeichert, also gehen sie weiter.</translation>
  </message>
  <message>
   <source>Lag in messages is the end of each partition minus what is committed. Lag in seconds is the age of the oldest uncommitted message.</source>
   <translation>Der Rückstand in Nachrichten ist das Ende jeder Partition minus das, was committet ist. In Sekunden ist er das Alter der ältesten nicht committeten Nachricht.</translation>
  </message>
  <message>
   <source>Lag is the end of the log minus what the group has committed. Orders arrive faster than two clerks can work.</source>
   <translation>Rückstand ist das Ende des Logs minus das, was die Gruppe committet hat. Bestellungen kommen schneller, als zwei Clerks arbeiten.</translation>
  </message>
  <message>
   <source>Lag is the end of the log minus what the group has committed. Orders come in bursts of ten seconds, faster than two clerks can work; in the pauses they catch up. At second 60, one clerk slows down to a third of its speed for a while, and now the pauses are too short.</source>
   <translation>Der Rückstand ist das Ende des Logs minus das, was die Gruppe committet hat. Bestellungen kommen in Schüben von zehn Sekunden, schneller, als zwei clerks arbeiten können; in den Pausen holen sie auf. In Sekunde 60 wird ein Clerk eine Zeit lang auf ein Drittel seines Tempos langsam, und nun sind die Pausen zu kurz.</translation>
  </message>
  <message>
   <source>Lag rises during a burst of ten seconds.</source>
   <translation>Der Rückstand wächst während eines Schubs von zehn Sekunden.</translation>
  </message>
  <message>
   <source>Lag rises in each burst and falls in each pause, like the tide.</source>
   <translation>Der Rückstand steigt mit jedem Schub und fällt in jeder Pause, wie die Gezeiten.</translation>
  </message>
  <message>
   <source>Language</source>
   <translation>Sprache</translation>
  </message>
  <message>
   <source>Larger text</source>
   <translation>Größere Schrift</translation>
  </message>
  <message>
   <source>Last (session)</source>
   <translation>Letzte (Sitzung)</translation>
  </message>
  <message>
   <source>Last error</source>
   <translation>Letzter Fehler</translation>
  </message>
  <message>
   <source>Last stable offset</source>
   <translation>Last Stable Offset</translation>
  </message>
  <message>
   <source>Lasted</source>
   <translation>Dauer</translation>
  </message>
  <message>
   <source>Latency</source>
   <translation>Latenz</translation>
  </message>
  <message>
   <source>Leader</source>
   <translation>Leader</translation>
  </message>
  <message>
   <source>Leaders moved</source>
   <translation>Leader gewechselt</translation>
  </message>
  <message>
   <source>Leads</source>
   <translation>Führt</translation>
  </message>
  <message>
   <source>Lease</source>
   <translation>Lease</translation>
  </message>
  <message>
   <source>Lease expired</source>
   <translation>Lease abgelaufen</translation>
  </message>
  <message>
   <source>Lease extended</source>
   <translation>Lease verlängert</translation>
  </message>
  <message>
   <source>Leases, sessions and retention periods that expire by then do so in order, each at its time.</source>
   <translation>Leases, Sitzungen und Aufbewahrungsfristen, die bis dahin ablaufen, enden der Reihe nach, jede zu ihrer Zeit.</translation>
  </message>
  <message>
   <source>Leases, sessions and retention use session time, which does not change.</source>
   <translation>Leases, Sessions und Aufbewahrung richten sich nach der Sitzungszeit, die sich nicht ändert.</translation>
  </message>
  <message>
   <source>Leaves its group.</source>
   <translation>Verlässt seine Gruppe.</translation>
  </message>
  <message>
   <source>Left out: {what}.</source>
   <translation>Weggelassen: {what}.</translation>
  </message>
  <message>
   <source>Lesson</source>
   <translation>Lektion</translation>
  </message>
  <message>
   <source>Lesson: done</source>
   <translation>Lektion: fertig</translation>
  </message>
  <message>
   <source>Lesson: {count} steps</source>
   <translation>Lektion: {count} Schritte</translation>
  </message>
  <message>
   <source>Lesson: {done} of {count} steps done</source>
   <translation>Lektion: {done} von {count} Schritten erledigt</translation>
  </message>
  <message>
   <source>Let it finish</source>
   <translation>Zu Ende laufen lassen</translation>
  </message>
  <message>
   <source>Let shop-b begin at second 45. If readers and schema are updated first and producers afterwards, nothing is refused.</source>
   <translation>Lassen Sie shop-b in Sekunde 45 beginnen. Werden zuerst Leser und Schema aktualisiert und danach die Producer, wird nichts abgelehnt.</translation>
  </message>
  <message>
   <source>Lets a Kafka cluster be changed.</source>
   <translation>Lässt zu, dass ein Kafka-Cluster geändert wird.</translation>
  </message>
  <message>
   <source>Letters</source>
   <translation>Dead Letters</translation>
  </message>
  <message>
   <source>Licence</source>
   <translation>Lizenz</translation>
  </message>
  <message>
   <source>Light</source>
   <translation>Hell</translation>
  </message>
  <message>
   <source>Light or dark</source>
   <translation>Hell oder dunkel</translation>
  </message>
  <message>
   <source>Like a long garbage collection: afterwards it continues where it was.</source>
   <translation>Wie bei einer langen Garbage Collection: danach macht er weiter, wo er stand.</translation>
  </message>
  <message>
   <source>Like kill -9: the broker is not told. It comes back after this time.</source>
   <translation>Wie bei kill -9: der Broker erfährt nichts. Nach dieser Zeit kommt er wieder.</translation>
  </message>
  <message>
   <source>Like sticky, but partitions that stay are still read during the rebalance.</source>
   <translation>Wie Sticky, aber Partitionen, die bleiben, werden während des Rebalance weitergelesen.</translation>
  </message>
  <message>
   <source>Limited</source>
   <translation>Begrenzt</translation>
  </message>
  <message>
   <source>Limits</source>
   <translation>Grenzen</translation>
  </message>
  <message>
   <source>Limits...</source>
   <translation>Grenzen...</translation>
  </message>
  <message>
   <source>Line {line}: {fault}</source>
   <translation>Zeile {line}: {fault}</translation>
  </message>
  <message>
   <source>Linger</source>
   <translation>Sammelzeit (Linger)</translation>
  </message>
  <message>
   <source>Linger and batches</source>
   <translation>Linger und Batches</translation>
  </message>
  <message>
   <source>Lingers</source>
   <translation>Sammelt (Linger)</translation>
  </message>
  <message>
   <source>Listener</source>
   <translation>Listener</translation>
  </message>
  <message>
   <source>Listeners</source>
   <translation>Listener</translation>
  </message>
  <message>
   <source>Listeners for other programs, and who is connected.</source>
   <translation>Listener für andere Programme und wer verbunden ist.</translation>
  </message>
  <message>
   <source>Live</source>
   <translation>Live</translation>
  </message>
  <message>
   <source>Live again.</source>
   <translation>Wieder live.</translation>
  </message>
  <message>
   <source>Live tail</source>
   <translation>Live mitlesen</translation>
  </message>
  <message>
   <source>Load balancing</source>
   <translation>Lastverteilung</translation>
  </message>
  <message>
   <source>Lock again</source>
   <translation>Wieder sperren</translation>
  </message>
  <message>
   <source>Log on disk</source>
   <translation>Log auf der Platte</translation>
  </message>
  <message>
   <source>Long-running jobs, with progress.</source>
   <translation>Lange Aufträge mit ihrem Fortschritt.</translation>
  </message>
  <message>
   <source>Longer than 30 seconds, with static members. The price is that the partitions of a member that has really crashed wait that long for a new owner.</source>
   <translation>Länger als 30 Sekunden, bei statischen Mitgliedern. Der Preis: Die Partitionen eines wirklich abgestürzten Mitglieds warten so lange auf einen neuen Besitzer.</translation>
  </message>
  <message>
   <source>Look at the keys that the members of floor get. If you need messages with the same key in order, you need a group with owners.</source>
   <translation>Sehen Sie sich die Schlüssel an, die die Mitglieder von floor bekommen. Wer Nachrichten mit demselben Schlüssel in ihrer Reihenfolge braucht, braucht eine Gruppe mit Besitzern.</translation>
  </message>
  <message>
   <source>Looking for its history...</source>
   <translation>Ihre Geschichte wird gesucht...</translation>
  </message>
  <message>
   <source>Lost</source>
   <translation>Verloren</translation>
  </message>
  <message>
   <source>Make for_s longer than the session timeout of 10 seconds. Now static rebalances, too.</source>
   <translation>Machen Sie for_s länger als das Session-Timeout von 10 Sekunden. Nun macht auch static einen Rebalance.</translation>
  </message>
  <message>
   <source>Make messages fail</source>
   <translation>Nachrichten scheitern lassen</translation>
  </message>
  <message>
   <source>Make messages fail...</source>
   <translation>Nachrichten scheitern lassen...</translation>
  </message>
  <message>
   <source>Makes a report of sessions.</source>
   <translation>Erstellt einen Bericht über Sitzungen.</translation>
  </message>
  <message>
   <source>Making the page {target}.</source>
   <translation>Die Seite {target} wird erstellt.</translation>
  </message>
  <message>
   <source>Making the producer wait. It costs the producer's time, and the producer's own callers must be able to wait as well; otherwise messages are lost there.</source>
   <translation>Den Producer warten zu lassen. Das kostet den Producer Zeit, und auch seine eigenen Aufrufer müssen warten können; sonst gehen dort Nachrichten verloren.</translation>
  </message>
  <message>
   <source>Marks or unmarks the messages of the selected topic as dead letters.</source>
   <translation>Kennzeichnet die Nachrichten des ausgewählten Topics als Dead Letters oder hebt das auf.</translation>
  </message>
  <message>
   <source>Marks the moment shown.</source>
   <translation>Markiert den gezeigten Zeitpunkt.</translation>
  </message>
  <message>
   <source>Maximise the panel</source>
   <translation>Panel maximieren</translation>
  </message>
  <message>
   <source>May</source>
   <translation>Darf</translation>
  </message>
  <message>
   <source>Median latency of the last 100 requests, including waiting for messages.</source>
   <translation>Median der Latenz der letzten 100 Requests, einschließlich des Wartens auf Nachrichten.</translation>
  </message>
  <message>
   <source>Member fell silent</source>
   <translation>Mitglied verstummt</translation>
  </message>
  <message>
   <source>Member id</source>
   <translation>Mitglieds-Id</translation>
  </message>
  <message>
   <source>Member joined</source>
   <translation>Mitglied beigetreten</translation>
  </message>
  <message>
   <source>Member left</source>
   <translation>Mitglied gegangen</translation>
  </message>
  <message>
   <source>Member of {name}</source>
   <translation>Mitglied von {name}</translation>
  </message>
  <message>
   <source>Members ({count})</source>
   <translation>Mitglieder ({count})</translation>
  </message>
  <message>
   <source>Members of the group read the topic</source>
   <translation>Mitglieder der Gruppe lesen das Topic</translation>
  </message>
  <message>
   <source>Members of the group.</source>
   <translation>Mitglieder der Gruppe.</translation>
  </message>
  <message>
   <source>Menu</source>
   <translation>Menü</translation>
  </message>
  <message>
   <source>Message</source>
   <translation>Nachricht</translation>
  </message>
  <message>
   <source>Message to check</source>
   <translation>Zu prüfende Nachricht</translation>
  </message>
  <message>
   <source>Message {key}{holder}, attempt {attempt}, {left:.0%} of the lease left</source>
   <translation>Nachricht {key}{holder}, Versuch {attempt}, {left:.0%} der Lease übrig</translation>
  </message>
  <message>
   <source>Messages</source>
   <translation>Nachrichten</translation>
  </message>
  <message>
   <source>Messages a second of a client.</source>
   <translation>Nachrichten eines Clients pro Sekunde.</translation>
  </message>
  <message>
   <source>Messages and bytes that the client gets per second.</source>
   <translation>Nachrichten und Bytes, die der Client pro Sekunde bekommt.</translation>
  </message>
  <message>
   <source>Messages and bytes that the client sends per second.</source>
   <translation>Nachrichten und Bytes, die der Client pro Sekunde sendet.</translation>
  </message>
  <message>
   <source>Messages are appended to it.</source>
   <translation>Die Nachrichten werden dort angehängt.</translation>
  </message>
  <message>
   <source>Messages by which the group is behind.</source>
   <translation>Nachrichten, um die die Gruppe zurückliegt.</translation>
  </message>
  <message>
   <source>Messages from the committed offset, or from where the group began, to the end; n/a if not known. In a compacted topic, ≤ marks an upper bound: offsets emptied by compaction are counted, too. On a cluster a transaction's marker may count, which is no message.</source>
   <translation>Nachrichten vom committeten Offset, oder vom Beginn der Gruppe, bis zum Ende; n/a, wenn unbekannt. In einem kompaktierten Topic steht ≤ für eine Obergrenze: Durch die Kompaktierung geleerte Offsets zählen mit. In einem Cluster kann der Marker einer Transaktion mitzählen, der keine Nachricht ist.</translation>
  </message>
  <message>
   <source>Messages in a topic that readers of committed messages get.</source>
   <translation>Nachrichten in einem Topic, die Leser committeter Nachrichten bekommen.</translation>
  </message>
  <message>
   <source>Messages in a topic.</source>
   <translation>Nachrichten, die ein Topic enthält.</translation>
  </message>
  <message>
   <source>Messages in the event.</source>
   <translation>Nachrichten im Ereignis.</translation>
  </message>
  <message>
   <source>Messages of a group are not leased: its consumers commit them.</source>
   <translation>Nachrichten einer Gruppe haben keine Lease: Ihre Consumer committen sie.</translation>
  </message>
  <message>
   <source>Messages of the topic that the group has not committed.</source>
   <translation>Nachrichten des Topics, die die Gruppe noch nicht committet hat.</translation>
  </message>
  <message>
   <source>Messages of {group} that will be read again: {again}, skipped: {skipped}.</source>
   <translation>Nachrichten von {group}, die noch einmal gelesen werden: {again}, übersprungen: {skipped}.</translation>
  </message>
  <message>
   <source>Messages only</source>
   <translation>Nur Nachrichten</translation>
  </message>
  <message>
   <source>Messages published in each session second.</source>
   <translation>Gesendete Nachrichten je Sitzungssekunde.</translation>
  </message>
  <message>
   <source>Messages published to a topic, published by a producer, acknowledged by a consumer, or delivered to a worker: the mean over 2 s, or between the last two commits.</source>
   <translation>Nachrichten, die in ein Topic oder von einem Producer veröffentlicht, von einem Consumer bestätigt oder einem Worker zugestellt wurden: Mittel über 2 s, oder zwischen den letzten beiden Commits.</translation>
  </message>
  <message>
   <source>Messages that a reader was given more than once: to whom, when and why.</source>
   <translation>Nachrichten, die ein Leser mehr als einmal bekam: an wen, wann und warum.</translation>
  </message>
  <message>
   <source>Messages that their owner fetched once more: after a seek or a pause, or because it had discarded them.</source>
   <translation>Nachrichten, die ihr Besitzer noch einmal abgerufen hat: nach einem Sprung oder einer Pause, oder weil er sie verworfen hatte.</translation>
  </message>
  <message>
   <source>Messages that their owner had lost, or had acknowledged: they may have been handled twice.</source>
   <translation>Nachrichten, die ihr Besitzer verloren oder bestätigt hatte: sie können doppelt verarbeitet worden sein.</translation>
  </message>
  <message>
   <source>Messages that wait in a queue.</source>
   <translation>Nachrichten, die in einer Queue warten.</translation>
  </message>
  <message>
   <source>Messages under a lease, and messages delivered to a group but not yet committed.</source>
   <translation>Nachrichten mit einer Lease sowie Nachrichten, die einer Gruppe zugestellt, aber noch nicht committet sind.</translation>
  </message>
  <message>
   <source>Messages waiting for this consumer, and how long the oldest has waited.</source>
   <translation>Nachrichten, die auf diesen Consumer warten, und wie lange die älteste schon wartet.</translation>
  </message>
  <message>
   <source>Messages whose processing failed for good.</source>
   <translation>Nachrichten, deren Verarbeitung endgültig gescheitert ist.</translation>
  </message>
  <message>
   <source>Messages/s</source>
   <translation>Nachrichten/s</translation>
  </message>
  <message>
   <source>Moment</source>
   <translation>Zeitpunkt</translation>
  </message>
  <message>
   <source>More</source>
   <translation>Mehr</translation>
  </message>
  <message>
   <source>More commands</source>
   <translation>Weitere Befehle</translation>
  </message>
  <message>
   <source>More lanes; keys may move to other partitions.</source>
   <translation>Mehr Spuren; Schlüssel können in andere Partitionen wandern.</translation>
  </message>
  <message>
   <source>More panels</source>
   <translation>Weitere Panels</translation>
  </message>
  <message>
   <source>More scenarios...</source>
   <translation>Weitere Szenarien...</translation>
  </message>
  <message>
   <source>Move</source>
   <translation>Verschieben</translation>
  </message>
  <message>
   <source>Move to group</source>
   <translation>In Gruppe verschieben</translation>
  </message>
  <message>
   <source>Move to group...</source>
   <translation>In Gruppe verschieben...</translation>
  </message>
  <message>
   <source>Move to {target}</source>
   <translation>Nach {target} verschieben</translation>
  </message>
  <message>
   <source>Move {consumer} to</source>
   <translation>{consumer} verschieben nach</translation>
  </message>
  <message>
   <source>Move {name} into {target}</source>
   <translation>{name} nach {target} verschieben</translation>
  </message>
  <message>
   <source>Move {name} to the bench</source>
   <translation>{name} auf die Bank setzen</translation>
  </message>
  <message>
   <source>Moved</source>
   <translation>Verschoben</translation>
  </message>
  <message>
   <source>Moves</source>
   <translation>Wechsel</translation>
  </message>
  <message>
   <source>Moves every box back to its place.</source>
   <translation>Jeden Kasten an seinen Platz.</translation>
  </message>
  <message>
   <source>Moves the position of a consumer. The committed offsets of its group do not change.</source>
   <translation>Verschiebt die Leseposition eines Consumers. Die committeten Offsets seiner Gruppe ändern sich nicht.</translation>
  </message>
  <message>
   <source>Moves the selected consumer.</source>
   <translation>Verschiebt den gewählten Consumer.</translation>
  </message>
  <message>
   <source>Multiplies the processing time.</source>
   <translation>Vervielfacht die Verarbeitungszeit.</translation>
  </message>
  <message>
   <source>Murmur2, like Kafka's own clients</source>
   <translation>Murmur2, wie Kafkas eigene Clients</translation>
  </message>
  <message>
   <source>My action</source>
   <translation>Meine Aktion</translation>
  </message>
  <message>
   <source>My actions</source>
   <translation>Meine Aktionen</translation>
  </message>
  <message>
   <source>My actions, in their order.</source>
   <translation>Meine Aktionen der Reihe nach.</translation>
  </message>
  <message>
   <source>Nack</source>
   <translation>Ablehnen (Nack)</translation>
  </message>
  <message>
   <source>Nacked</source>
   <translation>Abgelehnt (Nack)</translation>
  </message>
  <message>
   <source>Name</source>
   <translation>Name</translation>
  </message>
  <message>
   <source>Name and value, as in trace-id: 7.</source>
   <translation>Name und Wert, etwa trace-id: 7.</translation>
  </message>
  <message>
   <source>Name of the bookmark</source>
   <translation>Name des Lesezeichens</translation>
  </message>
  <message>
   <source>Name of the new group</source>
   <translation>Name der neuen Gruppe</translation>
  </message>
  <message>
   <source>Name of the saved filter</source>
   <translation>Name des gespeicherten Filters</translation>
  </message>
  <message>
   <source>Navigator</source>
   <translation>Navigator</translation>
  </message>
  <message>
   <source>Never more than ten messages wait for the mailer; it alone misses the rest.</source>
   <translation>Auf den Mailer warten nie mehr als zehn Nachrichten; nur ihm entgeht der Rest.</translation>
  </message>
  <message>
   <source>New group</source>
   <translation>Neue Gruppe</translation>
  </message>
  <message>
   <source>New group with {name}</source>
   <translation>Neue Gruppe mit {name}</translation>
  </message>
  <message>
   <source>New group...</source>
   <translation>Neue Gruppe...</translation>
  </message>
  <message>
   <source>New rows wait while the pointer is over the list or a row is selected; click to show them.</source>
   <translation>Neue Zeilen warten, solange der Zeiger über der Liste steht oder eine Zeile ausgewählt ist; zum Anzeigen klicken.</translation>
  </message>
  <message>
   <source>New scenario</source>
   <translation>Neues Szenario</translation>
  </message>
  <message>
   <source>New scenario...</source>
   <translation>Neues Szenario...</translation>
  </message>
  <message>
   <source>New segment</source>
   <translation>Neues Segment</translation>
  </message>
  <message>
   <source>New sessions are not recorded.{this}</source>
   <translation>Neue Sitzungen werden nicht aufgezeichnet.{this}</translation>
  </message>
  <message>
   <source>New sessions are recorded.{this}</source>
   <translation>Neue Sitzungen werden aufgezeichnet.{this}</translation>
  </message>
  <message>
   <source>Newest</source>
   <translation>Neueste</translation>
  </message>
  <message>
   <source>Newest schema</source>
   <translation>Neuestes Schema</translation>
  </message>
  <message>
   <source>Next event</source>
   <translation>Nächstes Ereignis</translation>
  </message>
  <message>
   <source>Next lesson</source>
   <translation>Nächste Lektion</translation>
  </message>
  <message>
   <source>Next lesson: {title}</source>
   <translation>Nächste Lektion: {title}</translation>
  </message>
  <message>
   <source>No Kafka program has asked for anything.</source>
   <translation>Noch kein Kafka-Programm hat einen Request gesendet.</translation>
  </message>
  <message>
   <source>No client is connected.</source>
   <translation>Kein Client ist verbunden.</translation>
  </message>
  <message>
   <source>No command and nothing in the session has this name.</source>
   <translation>So heißt kein Befehl und nichts in der Sitzung.</translation>
  </message>
  <message>
   <source>No consumer is on the bench. Drag one here to take it out of its group.</source>
   <translation>Auf der Bank sitzt kein Consumer. Ziehen Sie einen hierher, um ihn aus seiner Gruppe zu nehmen.</translation>
  </message>
  <message>
   <source>No consumer owns a partition now.</source>
   <translation>Kein Consumer besitzt gerade eine Partition.</translation>
  </message>
  <message>
   <source>No consumer reads.</source>
   <translation>Kein Consumer liest.</translation>
  </message>
  <message>
   <source>No consumer reads. Drop one here.</source>
   <translation>Kein Consumer liest. Ziehen Sie einen hierher.</translation>
  </message>
  <message>
   <source>No dead letters left.</source>
   <translation>Keine Dead Letters übrig.</translation>
  </message>
  <message>
   <source>No dead letters left: 1 was redriven.</source>
   <translation>Keine Dead Letters übrig: 1 wurde per Redrive zurückgeschickt.</translation>
  </message>
  <message>
   <source>No dead letters left: {count:,} were redriven.</source>
   <translation>Keine Dead Letters übrig: {count:,} wurden per Redrive zurückgeschickt.</translation>
  </message>
  <message>
   <source>No dead-letter topic has a message.</source>
   <translation>Kein Dead-Letter-Topic enthält eine Nachricht.</translation>
  </message>
  <message>
   <source>No event of this kind.</source>
   <translation>Kein Ereignis dieser Art.</translation>
  </message>
  <message>
   <source>No event so far.</source>
   <translation>Noch kein Ereignis.</translation>
  </message>
  <message>
   <source>No faster than</source>
   <translation>Nicht schneller als</translation>
  </message>
  <message>
   <source>No fault is active.</source>
   <translation>Keine Störung ist aktiv.</translation>
  </message>
  <message>
   <source>No figure differs by more than a tenth and by more than chance would explain.</source>
   <translation>Keine Kennzahl weicht um mehr als ein Zehntel ab und stärker, als der Zufall erklären würde.</translation>
  </message>
  <message>
   <source>No group has a member.</source>
   <translation>Keine Gruppe hat ein Mitglied.</translation>
  </message>
  <message>
   <source>No group has rebalanced yet.</source>
   <translation>Noch hatte keine Gruppe einen Rebalance.</translation>
  </message>
  <message>
   <source>No group reads anything yet.</source>
   <translation>Noch liest keine Gruppe etwas.</translation>
  </message>
  <message>
   <source>No group yet.</source>
   <translation>Noch keine Gruppe.</translation>
  </message>
  <message>
   <source>No heartbeats</source>
   <translation>Keine Heartbeats</translation>
  </message>
  <message>
   <source>No key</source>
   <translation>Kein Schlüssel</translation>
  </message>
  <message>
   <source>No leader</source>
   <translation>Kein Leader</translation>
  </message>
  <message>
   <source>No listener is open.</source>
   <translation>Kein Listener ist geöffnet.</translation>
  </message>
  <message>
   <source>No long-running work has been started.</source>
   <translation>Es wurde noch kein langer Auftrag gestartet.</translation>
  </message>
  <message>
   <source>No message event: groups, clients, faults.</source>
   <translation>Keine Nachrichtenereignisse: Gruppen, Clients, Störungen.</translation>
  </message>
  <message>
   <source>No message is in flight.</source>
   <translation>Keine Nachricht ist in Arbeit.</translation>
  </message>
  <message>
   <source>No message was delivered twice.</source>
   <translation>Keine Nachricht wurde zweimal zugestellt.</translation>
  </message>
  <message>
   <source>No message was given up on.</source>
   <translation>Keine Nachricht wurde aufgegeben.</translation>
  </message>
  <message>
   <source>No messages are waiting in the queue.</source>
   <translation>In der Queue warten keine Nachrichten.</translation>
  </message>
  <message>
   <source>No part of the report</source>
   <translation>Kein Teil des Berichts</translation>
  </message>
  <message>
   <source>No partitions</source>
   <translation>Keine Partitionen</translation>
  </message>
  <message>
   <source>No producer publishes.</source>
   <translation>Kein Producer sendet.</translation>
  </message>
  <message>
   <source>No producer waits</source>
   <translation>Kein Producer wartet</translation>
  </message>
  <message>
   <source>No producer waits.</source>
   <translation>Kein Producer wartet.</translation>
  </message>
  <message>
   <source>No program meets a fault.</source>
   <translation>Kein Programm wird gestört.</translation>
  </message>
  <message>
   <source>No program opens this here; it is {path}</source>
   <translation>Kein Programm öffnet das hier; es ist {path}</translation>
  </message>
  <message>
   <source>No queue.</source>
   <translation>Keine Queue.</translation>
  </message>
  <message>
   <source>No rate limit</source>
   <translation>Kein Ratenlimit</translation>
  </message>
  <message>
   <source>No reader is behind</source>
   <translation>Kein Leser ist im Rückstand</translation>
  </message>
  <message>
   <source>No rebalance so far.</source>
   <translation>Noch kein Rebalance.</translation>
  </message>
  <message>
   <source>No redrive is under way.</source>
   <translation>Kein Redrive läuft.</translation>
  </message>
  <message>
   <source>No report has been made yet.</source>
   <translation>Es wurde noch kein Bericht erstellt.</translation>
  </message>
  <message>
   <source>No scenario contains these words.</source>
   <translation>Kein Szenario enthält diese Wörter.</translation>
  </message>
  <message>
   <source>No scenario is open.</source>
   <translation>Kein Szenario ist offen.</translation>
  </message>
  <message>
   <source>No session has been recorded yet, so there is nothing to report on.</source>
   <translation>Es wurde noch keine Sitzung aufgezeichnet, also gibt es nichts zu berichten.</translation>
  </message>
  <message>
   <source>No session has been recorded yet. Run a scenario; it is recorded automatically.</source>
   <translation>Es wurde noch keine Sitzung aufgezeichnet. Starten Sie ein Szenario; es wird automatisch aufgezeichnet.</translation>
  </message>
  <message>
   <source>No session is open.</source>
   <translation>Keine Sitzung ist offen.</translation>
  </message>
  <message>
   <source>No step is done, from time 0 on.</source>
   <translation>Alle Schritte werden zurückgesetzt, ab Zeit 0.</translation>
  </message>
  <message>
   <source>No topic has a schema.</source>
   <translation>Kein Topic hat ein Schema.</translation>
  </message>
  <message>
   <source>No topic has partitions yet.</source>
   <translation>Noch hat kein Topic Partitionen.</translation>
  </message>
  <message>
   <source>No topic or queue has a limit.</source>
   <translation>Kein Topic und keine Queue hat eine Grenze.</translation>
  </message>
  <message>
   <source>No topic yet.</source>
   <translation>Noch kein Topic.</translation>
  </message>
  <message>
   <source>No value (a tombstone)</source>
   <translation>Kein Wert (ein Tombstone)</translation>
  </message>
  <message>
   <source>No workers read from this queue.</source>
   <translation>Keine Worker lesen aus dieser Queue.</translation>
  </message>
  <message>
   <source>No. All of these orders have the same key, so they are in one partition with one owner. More packers help only if the load is spread over several partitions.</source>
   <translation>Nein. Alle diese Bestellungen haben denselben Schlüssel, liegen also in einer Partition mit einem Besitzer. Mehr Packer helfen nur, wenn sich die Last auf mehrere Partitionen verteilt.</translation>
  </message>
  <message>
   <source>No. It only hides aborted messages from the consumer. A consumer that crashes between its work and its commit does the work again, unless its offsets are committed in the same transaction as the messages it produces.</source>
   <translation>Nein. Es verbirgt nur abgebrochene Nachrichten vor dem Consumer. Ein Consumer, der zwischen Arbeit und Commit abstürzt, macht die Arbeit noch einmal, es sei denn, seine Offsets werden in derselben Transaktion committet wie die Nachrichten, die er sendet.</translation>
  </message>
  <message>
   <source>Nobody ends its transaction now. The last stable offset stays where it is, and booked cannot read anything beyond it, not even what the shop has committed since.</source>
   <translation>Niemand beendet jetzt seine Transaktion. Der Last Stable Offset bleibt stehen, und booked kann dahinter nichts lesen, auch nicht, was shop seitdem committet hat.</translation>
  </message>
  <message>
   <source>Nobody reads their partitions. The groups do not know this yet; they are waiting for the next heartbeat.</source>
   <translation>Niemand liest ihre Partitionen. Die Gruppen wissen das noch nicht; sie warten auf den nächsten Heartbeat.</translation>
  </message>
  <message>
   <source>Node</source>
   <translation>Knoten</translation>
  </message>
  <message>
   <source>None</source>
   <translation>Keine</translation>
  </message>
  <message>
   <source>Not about messages.</source>
   <translation>Nicht über Nachrichten.</translation>
  </message>
  <message>
   <source>Not available: {reason}</source>
   <translation>Nicht verfügbar: {reason}</translation>
  </message>
  <message>
   <source>Not below the current one.</source>
   <translation>Nicht unter der jetzigen.</translation>
  </message>
  <message>
   <source>Not here: drop on a group, the bench or empty ground</source>
   <translation>Nicht hier: auf einer Gruppe, der Bank oder einer freien Stelle loslassen</translation>
  </message>
  <message>
   <source>Not known from outside.</source>
   <translation>Von außen nicht bekannt.</translation>
  </message>
  <message>
   <source>Not listed: {what}. Those in use and the one selected in the navigator come first.</source>
   <translation>Nicht aufgeführt: {what}. Zuerst kommen die benutzten und das im Navigator ausgewählte.</translation>
  </message>
  <message>
   <source>Not observed</source>
   <translation>Nicht beobachtet</translation>
  </message>
  <message>
   <source>Not observed: {cause}</source>
   <translation>Nicht beobachtet: {cause}</translation>
  </message>
  <message>
   <source>Not pasted: the scenario would have {chars} characters, and at most {most} can be edited here.</source>
   <translation>Nicht eingefügt: Das Szenario hätte {chars} Zeichen, und höchstens {most} lassen sich hier bearbeiten.</translation>
  </message>
  <message>
   <source>Not recording</source>
   <translation>Keine Aufzeichnung</translation>
  </message>
  <message>
   <source>Not seen</source>
   <translation>Nicht zu sehen</translation>
  </message>
  <message>
   <source>Nothing can be written to the cluster any more.</source>
   <translation>In den Cluster kann nichts mehr geschrieben werden.</translation>
  </message>
  <message>
   <source>Nothing has been done yet.</source>
   <translation>Es wurde noch nichts getan.</translation>
  </message>
  <message>
   <source>Nothing has been published to it yet.</source>
   <translation>Dorthin wurde noch nichts gesendet.</translation>
  </message>
  <message>
   <source>Nothing has been redriven yet.</source>
   <translation>Es gab noch keinen Redrive.</translation>
  </message>
  <message>
   <source>Nothing has been undone.</source>
   <translation>Es wurde nichts rückgängig gemacht.</translation>
  </message>
  <message>
   <source>Nothing has happened yet.</source>
   <translation>Es ist noch nichts geschehen.</translation>
  </message>
  <message>
   <source>Nothing in flight.</source>
   <translation>Nichts in Arbeit.</translation>
  </message>
  <message>
   <source>Nothing in this report stands out.</source>
   <translation>In diesem Bericht fällt nichts auf.</translation>
  </message>
  <message>
   <source>Nothing is filtered.</source>
   <translation>Nichts ist gefiltert.</translation>
  </message>
  <message>
   <source>Nothing is running yet. Open a scenario, or press Run (F5).</source>
   <translation>Es läuft noch nichts. Öffnen Sie ein Szenario oder drücken Sie Starten (F5).</translation>
  </message>
  <message>
   <source>Nothing is selected.</source>
   <translation>Nichts ist gewählt.</translation>
  </message>
  <message>
   <source>Nothing matches the filter.</source>
   <translation>Nichts passt zum Filter.</translation>
  </message>
  <message>
   <source>Nothing more can be stored; reading continues.</source>
   <translation>Es lässt sich nichts mehr speichern; Lesen geht weiter.</translation>
  </message>
  <message>
   <source>Nothing was lost: all {count} messages are accounted for, for every reader.</source>
   <translation>Nichts ging verloren: Der Verbleib aller {count} Nachrichten ist für jeden Leser geklärt.</translation>
  </message>
  <message>
   <source>Nothing would be redriven.</source>
   <translation>Nichts würde zurückgeführt.</translation>
  </message>
  <message>
   <source>Now</source>
   <translation>Jetzt</translation>
  </message>
  <message>
   <source>Now at</source>
   <translation>Jetzt bei</translation>
  </message>
  <message>
   <source>Of</source>
   <translation>Von</translation>
  </message>
  <message>
   <source>Of sessions of different lengths, what grows with them is not judged, and no cause is named.</source>
   <translation>Bei verschieden langen Sitzungen wird nicht beurteilt, was mit ihnen wächst, und keine Ursache genannt.</translation>
  </message>
  <message>
   <source>Offset</source>
   <translation>Offset</translation>
  </message>
  <message>
   <source>Offsets</source>
   <translation>Offsets</translation>
  </message>
  <message>
   <source>Offsets and lag appear here once a group has partitions. Drag a consumer into a group, or use Move to group... (Ctrl+M).</source>
   <translation>Offsets und Rückstand erscheinen hier, sobald eine Gruppe Partitionen hat. Ziehen Sie einen Consumer in eine Gruppe, oder nutzen Sie In Gruppe verschieben... (Strg+M).</translation>
  </message>
  <message>
   <source>Offsets reset</source>
   <translation>Offsets zurückgesetzt</translation>
  </message>
  <message>
   <source>Oldest</source>
   <translation>Älteste</translation>
  </message>
  <message>
   <source>Once it is taken out of the group, regular-2 has no place to return to: the group rebalances, and the others get its partitions. Only a member that crashes keeps its place until its session times out, here after ten seconds.</source>
   <translation>Einmal aus der Gruppe genommen, hat regular-2 keinen Platz mehr, an den es zurückkehren könnte: Es gibt einen Rebalance, und die anderen bekommen seine Partitionen. Nur ein abgestürztes Mitglied behält seinen Platz, bis seine Session abläuft, hier nach zehn Sekunden.</translation>
  </message>
  <message>
   <source>One line</source>
   <translation>Eine Zeile</translation>
  </message>
  <message>
   <source>One of my own actions.</source>
   <translation>Eine meiner Aktionen.</translation>
  </message>
  <message>
   <source>One second later; at the end, live again.</source>
   <translation>Eine Sekunde später; am Ende wieder live.</translation>
  </message>
  <message>
   <source>One to each in turn, over all topics.</source>
   <translation>Reihum jedem eine, über alle Topics.</translation>
  </message>
  <message>
   <source>Ongoing</source>
   <translation>Offen</translation>
  </message>
  <message>
   <source>Online</source>
   <translation>Online</translation>
  </message>
  <message>
   <source>Only a Kafka cluster that runs elsewhere is locked.</source>
   <translation>Gesperrt ist nur ein Kafka-Cluster, der anderswo läuft.</translation>
  </message>
  <message>
   <source>Only from {name}</source>
   <translation>Nur von {name}</translation>
  </message>
  <message>
   <source>Only its own partitions move. The others are told about them with their next heartbeats.</source>
   <translation>Nur seine eigenen Partitionen wechseln den Besitzer. Die anderen erfahren davon mit ihren nächsten Heartbeats.</translation>
  </message>
  <message>
   <source>Only my own actions</source>
   <translation>Nur meine Aktionen</translation>
  </message>
  <message>
   <source>Only the client knows which messages a reader holds. The panel says so, and no figure, chart or report counts them as 0.</source>
   <translation>Welche Nachrichten ein Leser hält, weiß nur der Client. Das Panel sagt es, und keine Kennzahl, kein Diagramm und kein Bericht zählt sie als 0.</translation>
  </message>
  <message>
   <source>Only the first {count} values are shown.</source>
   <translation>Nur die ersten {count} Werte sind zu sehen.</translation>
  </message>
  <message>
   <source>Only the most recent events are counted: this session is not recorded.</source>
   <translation>Nur die letzten Ereignisse sind gezählt: Diese Sitzung wird nicht aufgezeichnet.</translation>
  </message>
  <message>
   <source>Only this client</source>
   <translation>Nur dieser Client</translation>
  </message>
  <message>
   <source>Only this kind</source>
   <translation>Nur diese Art</translation>
  </message>
  <message>
   <source>Only this topic</source>
   <translation>Nur dieses Topic</translation>
  </message>
  <message>
   <source>Open</source>
   <translation>Öffnen</translation>
  </message>
  <message>
   <source>Open Backpressure.</source>
   <translation>Backpressure öffnen.</translation>
  </message>
  <message>
   <source>Open Charts.</source>
   <translation>Diagramme öffnen.</translation>
  </message>
  <message>
   <source>Open Dead letters (Ctrl+4) and select a row.</source>
   <translation>Dead Letters öffnen (Strg+4) und eine Zeile auswählen.</translation>
  </message>
  <message>
   <source>Open Dead letters (Ctrl+4), select a row, and redrive it (Ctrl+D).</source>
   <translation>Dead Letters öffnen (Strg+4), eine Zeile auswählen und einen Redrive auslösen (Strg+D).</translation>
  </message>
  <message>
   <source>Open Dead letters (Ctrl+4).</source>
   <translation>Dead Letters öffnen (Strg+4).</translation>
  </message>
  <message>
   <source>Open Events. Its tab counts the alerts that are active now.</source>
   <translation>Ereignisse öffnen. Der Reiter zählt die Alarme, die gerade andauern.</translation>
  </message>
  <message>
   <source>Open In flight (Ctrl+3).</source>
   <translation>In Arbeit öffnen (Strg+3).</translation>
  </message>
  <message>
   <source>Open In flight.</source>
   <translation>In Arbeit öffnen.</translation>
  </message>
  <message>
   <source>Open Kafka in the panel Connections, then point bootstrap.servers of a program at it.</source>
   <translation>Kafka im Panel Verbindungen öffnen, dann bootstrap.servers eines Programms darauf richten.</translation>
  </message>
  <message>
   <source>Open Kafka, then point bootstrap.servers of a Kafka program of your own at it.</source>
   <translation>Kafka öffnen, dann bootstrap.servers eines eigenen Kafka-Programms darauf richten.</translation>
  </message>
  <message>
   <source>Open Messages and compare the keys and partitions of some rows.</source>
   <translation>Nachrichten öffnen und Schlüssel und Partition einiger Zeilen vergleichen.</translation>
  </message>
  <message>
   <source>Open Offsets (Ctrl+2).</source>
   <translation>Offsets öffnen (Strg+2).</translation>
  </message>
  <message>
   <source>Open it</source>
   <translation>Öffnen</translation>
  </message>
  <message>
   <source>Open log</source>
   <translation>Log öffnen</translation>
  </message>
  <message>
   <source>Open report</source>
   <translation>Bericht öffnen</translation>
  </message>
  <message>
   <source>Open scenario</source>
   <translation>Szenario öffnen</translation>
  </message>
  <message>
   <source>Open scenario...</source>
   <translation>Szenario öffnen...</translation>
  </message>
  <message>
   <source>Open session</source>
   <translation>Sitzung öffnen</translation>
  </message>
  <message>
   <source>Open session...</source>
   <translation>Sitzung öffnen...</translation>
  </message>
  <message>
   <source>Open since {time}</source>
   <translation>Offen seit {time}</translation>
  </message>
  <message>
   <source>Open the HTTP listener</source>
   <translation>HTTP-Listener öffnen</translation>
  </message>
  <message>
   <source>Open the Kafka listener</source>
   <translation>Kafka-Listener öffnen</translation>
  </message>
  <message>
   <source>Open the report when it is finished</source>
   <translation>Bericht öffnen, wenn er fertig ist</translation>
  </message>
  <message>
   <source>Open the scenario Schema evolution to see versions, and messages that a schema refuses.</source>
   <translation>Das Szenario Schema-Evolution öffnen, um Versionen zu sehen und Nachrichten, die ein Schema abweist.</translation>
  </message>
  <message>
   <source>Open transaction</source>
   <translation>Offene Transaktion</translation>
  </message>
  <message>
   <source>Open: {where}. Only programs on this machine can connect.</source>
   <translation>Offen: {where}. Nur Programme auf diesem Rechner können sich verbinden.</translation>
  </message>
  <message>
   <source>Opened {title}, {seconds:.0f} s recorded.</source>
   <translation>{title} ist geöffnet, {seconds:.0f} s aufgezeichnet.</translation>
  </message>
  <message>
   <source>Opened {title}.</source>
   <translation>{title} ist geöffnet.</translation>
  </message>
  <message>
   <source>Opening</source>
   <translation>Wird geöffnet</translation>
  </message>
  <message>
   <source>Opens a scenario file.</source>
   <translation>Öffnet eine Szenariodatei.</translation>
  </message>
  <message>
   <source>Opens it as a new session (Ctrl+Return).</source>
   <translation>Öffnet es als neue Sitzung (Strg+Eingabe).</translation>
  </message>
  <message>
   <source>Opens ports on this machine that pass programs on to a Kafka cluster. Change a program's bootstrap.servers, and what it does is seen exactly, recorded, and can be disturbed by faults. A password that passes through is not kept. The ports close with the session.</source>
   <translation>Öffnet Ports auf diesem Rechner, die Programme an einen Kafka-Cluster weitergeben. Ändern Sie bootstrap.servers eines Programms: Was es tut, wird genau gesehen, aufgezeichnet und kann gestört werden. Ein Passwort, das hindurchgeht, wird nicht behalten. Die Ports schließen mit der Sitzung.</translation>
  </message>
  <message>
   <source>Opens the scenario of the next lesson.</source>
   <translation>Öffnet das Szenario der nächsten Lektion.</translation>
  </message>
  <message>
   <source>Opens {result}</source>
   <translation>Öffnet {result}</translation>
  </message>
  <message>
   <source>Or the group, with the partition it reads.</source>
   <translation>Oder die Gruppe mit der Partition, die sie liest.</translation>
  </message>
  <message>
   <source>Orders arrive in two partitions, and packing one takes half a second. In the group lines, each partition has one owner, so two of its four members work and two are idle. The share group floor (KIP-932) reads the same partitions: any member takes the next message, locks it for four seconds and acknowledges it individually. Packing fails now and then; the order is then delivered again, up to three times.</source>
   <translation>Bestellungen kommen in zwei Partitionen an, und eine zu packen dauert eine halbe Sekunde. In der Gruppe lines hat jede Partition einen Besitzer, also arbeiten zwei ihrer vier Mitglieder, und zwei sind untätig. Die Share Group floor (KIP-932) liest dieselben Partitionen: Jedes Mitglied nimmt die nächste Nachricht, sperrt sie vier Sekunden lang und bestätigt sie einzeln. Das Packen schlägt ab und zu fehl; dann wird die Bestellung noch einmal zugestellt, bis zu dreimal.</translation>
  </message>
  <message>
   <source>Orders come in. The window asks the cluster for its offsets every second.</source>
   <translation>Bestellungen kommen an. Das Fenster fragt den Cluster jede Sekunde nach seinen Offsets.</translation>
  </message>
  <message>
   <source>Orders have a schema, and each new version must be able to read what older ones have written (backward compatible). At second 20, shop-b begins to send a currency with each order, which version 1 does not allow: all of its orders are refused, with the position of the error. At 40, version 2 is registered, with an optional currency. At 60 somebody tries to change the amount to text, and at 80 to make the currency mandatory. Neither version could read the orders of shop-a.</source>
   <translation>Bestellungen haben ein Schema, und jede neue Version muss lesen können, was ältere geschrieben haben (rückwärtskompatibel). In Sekunde 20 beginnt shop-b, mit jeder Bestellung eine Währung zu senden, was Version 1 nicht erlaubt: Alle seine Bestellungen werden abgelehnt, mit der Stelle des Fehlers. In Sekunde 40 wird Version 2 registriert, mit einer optionalen Währung. In Sekunde 60 versucht jemand, aus dem Betrag einen Text zu machen, und in Sekunde 80, die Währung zur Pflicht zu machen. Keine der beiden Versionen könnte die Bestellungen von shop-a lesen.</translation>
  </message>
  <message>
   <source>Origin</source>
   <translation>Ursprung</translation>
  </message>
  <message>
   <source>Other group</source>
   <translation>Andere Gruppe</translation>
  </message>
  <message>
   <source>Other version</source>
   <translation>Andere Version</translation>
  </message>
  <message>
   <source>Out (per s)</source>
   <translation>Aus (pro s)</translation>
  </message>
  <message>
   <source>Over time</source>
   <translation>Im Verlauf</translation>
  </message>
  <message>
   <source>Owner</source>
   <translation>Besitzer</translation>
  </message>
  <message>
   <source>Owner now</source>
   <translation>Besitzer jetzt</translation>
  </message>
  <message>
   <source>Owners</source>
   <translation>Besitzer</translation>
  </message>
  <message>
   <source>Owners by assignor</source>
   <translation>Besitzer je Assignor</translation>
  </message>
  <message>
   <source>Owners of partitions.</source>
   <translation>Besitzer der Partitionen.</translation>
  </message>
  <message>
   <source>Ownership history</source>
   <translation>Verlauf des Besitzes</translation>
  </message>
  <message>
   <source>Owns</source>
   <translation>Besitzt</translation>
  </message>
  <message>
   <source>PEM file, for https; if empty, the system's</source>
   <translation>PEM-Datei für https; leer: die des Systems</translation>
  </message>
  <message>
   <source>Packing</source>
   <translation>Packen</translation>
  </message>
  <message>
   <source>Page for a browser (HTML)</source>
   <translation>Seite für den Browser (HTML)</translation>
  </message>
  <message>
   <source>Page made with</source>
   <translation>Seite erstellt mit</translation>
  </message>
  <message>
   <source>Page of {name}</source>
   <translation>Seite von {name}</translation>
  </message>
  <message>
   <source>Pages (*.html)</source>
   <translation>Seiten (*.html)</translation>
  </message>
  <message>
   <source>Panel below the canvas</source>
   <translation>Panel unter der Zeichenfläche</translation>
  </message>
  <message>
   <source>Panel beside the canvas</source>
   <translation>Panel neben der Zeichenfläche</translation>
  </message>
  <message>
   <source>Panels</source>
   <translation>Panels</translation>
  </message>
  <message>
   <source>Part</source>
   <translation>Teil</translation>
  </message>
  <message>
   <source>Partition</source>
   <translation>Partition</translation>
  </message>
  <message>
   <source>Partition by key</source>
   <translation>Partition nach dem Schlüssel</translation>
  </message>
  <message>
   <source>Partition moved</source>
   <translation>Partition umgezogen</translation>
  </message>
  <message>
   <source>Partition or priority</source>
   <translation>Partition oder Priorität</translation>
  </message>
  <message>
   <source>Partition {number}</source>
   <translation>Partition {number}</translation>
  </message>
  <message>
   <source>Partitions</source>
   <translation>Partitionen</translation>
  </message>
  <message>
   <source>Partitions added</source>
   <translation>Partitionen hinzugefügt</translation>
  </message>
  <message>
   <source>Partitions and keys</source>
   <translation>Partitionen und Schlüssel</translation>
  </message>
  <message>
   <source>Partitions assigned</source>
   <translation>Partitionen zugewiesen</translation>
  </message>
  <message>
   <source>Partitions in all</source>
   <translation>Partitionen insgesamt</translation>
  </message>
  <message>
   <source>Partitions of which it has a replica.</source>
   <translation>Partitionen, von denen er ein Replikat hat.</translation>
  </message>
  <message>
   <source>Partitions of which it is in sync.</source>
   <translation>Partitionen, von denen er ein synchrones Replikat hat.</translation>
  </message>
  <message>
   <source>Partitions revoked</source>
   <translation>Partitionen entzogen</translation>
  </message>
  <message>
   <source>Partitions that changed owner</source>
   <translation>Partitionen, die den Besitzer wechselten</translation>
  </message>
  <message>
   <source>Partitions that it leads.</source>
   <translation>Partitionen, die er führt.</translation>
  </message>
  <message>
   <source>Partitions: {leaderless:,} leaderless, {under:,} under-replicated</source>
   <translation>Partitionen: {leaderless:,} ohne Leader, {under:,} mit zu wenigen synchronen Replikaten</translation>
  </message>
  <message>
   <source>Parts</source>
   <translation>Teile</translation>
  </message>
  <message>
   <source>Parts of it cannot be read.</source>
   <translation>Teile davon lassen sich nicht lesen.</translation>
  </message>
  <message>
   <source>Parts of the report</source>
   <translation>Teile des Berichts</translation>
  </message>
  <message>
   <source>Passes programs on to a Kafka cluster, shows what they do, and can disturb it.</source>
   <translation>Gibt Programme an einen Kafka-Cluster weiter, zeigt, was sie tun, und kann es stören.</translation>
  </message>
  <message>
   <source>Past alerts stay on the timeline and in the recording.</source>
   <translation>Frühere Alarme bleiben auf der Zeitleiste und in der Aufzeichnung.</translation>
  </message>
  <message>
   <source>Pause</source>
   <translation>Pause</translation>
  </message>
  <message>
   <source>Pause client...</source>
   <translation>Client anhalten...</translation>
  </message>
  <message>
   <source>Pause {name}</source>
   <translation>{name} anhalten</translation>
  </message>
  <message>
   <source>Paused</source>
   <translation>Angehalten</translation>
  </message>
  <message>
   <source>Payload</source>
   <translation>Payload</translation>
  </message>
  <message>
   <source>Payload as JSON</source>
   <translation>Payload als JSON</translation>
  </message>
  <message>
   <source>Payload as text</source>
   <translation>Payload als Text</translation>
  </message>
  <message>
   <source>Payload in hex</source>
   <translation>Payload in Hex</translation>
  </message>
  <message>
   <source>Peer</source>
   <translation>Gegenstelle</translation>
  </message>
  <message>
   <source>Pieces of</source>
   <translation>Stücke von</translation>
  </message>
  <message>
   <source>Place</source>
   <translation>Ort</translation>
  </message>
  <message>
   <source>Play</source>
   <translation>Abspielen</translation>
  </message>
  <message>
   <source>Poison message</source>
   <translation>Giftige Nachricht</translation>
  </message>
  <message>
   <source>Port</source>
   <translation>Port</translation>
  </message>
  <message>
   <source>Port of the listener {name}</source>
   <translation>Port des Listeners {name}</translation>
  </message>
  <message>
   <source>Position</source>
   <translation>Position</translation>
  </message>
  <message>
   <source>Preparing rebalance</source>
   <translation>Rebalance wird vorbereitet</translation>
  </message>
  <message>
   <source>Presentation</source>
   <translation>Präsentation</translation>
  </message>
  <message>
   <source>Previous event</source>
   <translation>Voriges Ereignis</translation>
  </message>
  <message>
   <source>Principal</source>
   <translation>Principal</translation>
  </message>
  <message>
   <source>Principal {name}</source>
   <translation>Principal {name}</translation>
  </message>
  <message>
   <source>Priorities</source>
   <translation>Prioritäten</translation>
  </message>
  <message>
   <source>Priorities and starvation</source>
   <translation>Prioritäten und Verhungern</translation>
  </message>
  <message>
   <source>Priority</source>
   <translation>Priorität</translation>
  </message>
  <message>
   <source>Priority {number}</source>
   <translation>Priorität {number}</translation>
  </message>
  <message>
   <source>Processing</source>
   <translation>Verarbeitet</translation>
  </message>
  <message>
   <source>Processing failed: retried according to the retry policy.</source>
   <translation>Gescheitert: neuer Versuch nach der Wiederholungsregel.</translation>
  </message>
  <message>
   <source>Processing takes this many times as long.</source>
   <translation>Die Verarbeitung dauert so viel Mal so lange.</translation>
  </message>
  <message>
   <source>Processing time of a message.</source>
   <translation>Verarbeitungszeit einer Nachricht.</translation>
  </message>
  <message>
   <source>Processing time of {name}</source>
   <translation>Verarbeitungszeit von {name}</translation>
  </message>
  <message>
   <source>Produce</source>
   <translation>Senden</translation>
  </message>
  <message>
   <source>Produce it again...</source>
   <translation>Noch einmal senden...</translation>
  </message>
  <message>
   <source>Produce...</source>
   <translation>Senden...</translation>
  </message>
  <message>
   <source>Producer</source>
   <translation>Producer</translation>
  </message>
  <message>
   <source>Producer blocked</source>
   <translation>Producer blockiert</translation>
  </message>
  <message>
   <source>Producer id</source>
   <translation>Producer-Id</translation>
  </message>
  <message>
   <source>Producer unblocked</source>
   <translation>Producer wieder frei</translation>
  </message>
  <message>
   <source>Producers</source>
   <translation>Producer</translation>
  </message>
  <message>
   <source>Producers blocked</source>
   <translation>Blockierte Producer</translation>
  </message>
  <message>
   <source>Producers wait at most</source>
   <translation>Producer warten höchstens</translation>
  </message>
  <message>
   <source>Producers were blocked {count:,} times, {time} in all</source>
   <translation>Producer waren {count:,}-mal blockiert, insgesamt {time}</translation>
  </message>
  <message>
   <source>Producers, topics, groups and queues at this moment</source>
   <translation>Producer, Topics, Gruppen und Queues in diesem Moment</translation>
  </message>
  <message>
   <source>Program</source>
   <translation>Programm</translation>
  </message>
  <message>
   <source>Programs can use the broker over HTTP.</source>
   <translation>Programme können den Broker über HTTP benutzen.</translation>
  </message>
  <message>
   <source>Programs connect to the broker where it runs.</source>
   <translation>Programme verbinden sich mit dem Broker dort, wo er läuft.</translation>
  </message>
  <message>
   <source>Programs of a real cluster meet faults: {what}.</source>
   <translation>Programme eines echten Clusters werden gestört: {what}.</translation>
  </message>
  <message>
   <source>Programs that are passed on tell for how long nobody read, and why.</source>
   <translation>Programme, die durchgereicht werden, verraten, wie lange niemand gelesen hat und warum.</translation>
  </message>
  <message>
   <source>Prompt's messages trickle in; patient's come in bursts, and its reader works in bursts, too.</source>
   <translation>Die Nachrichten von prompt tröpfeln herein, die von patient kommen in Schüben, und auch sein Leser arbeitet in Schüben.</translation>
  </message>
  <message>
   <source>Publish to delivery</source>
   <translation>Vom Senden zur Zustellung</translation>
  </message>
  <message>
   <source>Published</source>
   <translation>Gesendet</translation>
  </message>
  <message>
   <source>Published (session)</source>
   <translation>Gesendet (Sitzung)</translation>
  </message>
  <message>
   <source>Published a second</source>
   <translation>Gesendet pro Sekunde</translation>
  </message>
  <message>
   <source>Published between the rebalances of {group}</source>
   <translation>Veröffentlicht zwischen den Rebalances von {group}</translation>
  </message>
  <message>
   <source>Published from</source>
   <translation>Gesendet ab</translation>
  </message>
  <message>
   <source>Published since the list was loaded; click to reload.</source>
   <translation>Seit dem Laden der Liste veröffentlicht; zum Neuladen klicken.</translation>
  </message>
  <message>
   <source>Publishes to</source>
   <translation>Sendet an</translation>
  </message>
  <message>
   <source>Purge</source>
   <translation>Leeren</translation>
  </message>
  <message>
   <source>Purge all...</source>
   <translation>Alle löschen...</translation>
  </message>
  <message>
   <source>Purge queue</source>
   <translation>Queue leeren</translation>
  </message>
  <message>
   <source>Purge queue...</source>
   <translation>Queue leeren...</translation>
  </message>
  <message>
   <source>Purge selected...</source>
   <translation>Gewählte löschen...</translation>
  </message>
  <message>
   <source>Purge {count}</source>
   <translation>{count} löschen</translation>
  </message>
  <message>
   <source>Purged</source>
   <translation>Geleert</translation>
  </message>
  <message>
   <source>Put a condition on both sides of {words}, or "{words}" in quotes to look for the word.</source>
   <translation>Zu beiden Seiten von {words} eine Bedingung setzen, oder "{words}" in Anführungszeichen, um das Wort zu suchen.</translation>
  </message>
  <message>
   <source>Qt is used under the LGPL 3: it is installed as a separate package and can be replaced.</source>
   <translation>Qt wird unter der LGPL 3 benutzt: es ist als eigenes Paket installiert und lässt sich austauschen.</translation>
  </message>
  <message>
   <source>Queue</source>
   <translation>Queue</translation>
  </message>
  <message>
   <source>Queue created</source>
   <translation>Queue angelegt</translation>
  </message>
  <message>
   <source>Queue depth</source>
   <translation>Tiefe der Queue</translation>
  </message>
  <message>
   <source>Queue {name}, {counts}, {dead}</source>
   <translation>Queue {name}, {counts}, {dead}</translation>
  </message>
  <message>
   <source>Queues</source>
   <translation>Queues</translation>
  </message>
  <message>
   <source>Queues and redeliveries</source>
   <translation>Queues, erneute Zustellung</translation>
  </message>
  <message>
   <source>Quit</source>
   <translation>Beenden</translation>
  </message>
  <message>
   <source>Quota</source>
   <translation>Quota</translation>
  </message>
  <message>
   <source>REPLAY {time}</source>
   <translation>WIEDERGABE {time}</translation>
  </message>
  <message>
   <source>RUNNING AGAIN, {share}</source>
   <translation>WIRD WIEDERHOLT, {share}</translation>
  </message>
  <message>
   <source>Rack</source>
   <translation>Rack</translation>
  </message>
  <message>
   <source>Raise session_timeout_ms to 20000. There is no rebalance now, but how long would a real crash go unnoticed?</source>
   <translation>Erhöhen Sie session_timeout_ms auf 20000. Nun gibt es keinen Rebalance, aber wie lange bliebe ein echter Absturz unbemerkt?</translation>
  </message>
  <message>
   <source>Range assigns everything from scratch, so partitions also move between members that stay; the card says which.</source>
   <translation>Range beginnt von vorn, darum wechseln Partitionen auch zwischen Mitgliedern, die bleiben; die Karte sagt, welche.</translation>
  </message>
  <message>
   <source>Range goes topic by topic, so ranger-1 has four partitions and the others two each. The sticky rules balance over both topics. The first has three, the second three, the third two.</source>
   <translation>Range geht Topic für Topic vor; daher hat ranger-1 vier Partitionen und die anderen je zwei. Die Sticky-Regeln verteilen gleichmäßig über beide Topics: Der erste hat drei, der zweite drei, der dritte zwei.</translation>
  </message>
  <message>
   <source>Range versus sticky</source>
   <translation>Range oder Sticky</translation>
  </message>
  <message>
   <source>Rate</source>
   <translation>Rate</translation>
  </message>
  <message>
   <source>Rate at most</source>
   <translation>Rate höchstens</translation>
  </message>
  <message>
   <source>Rate limit</source>
   <translation>Ratenlimit</translation>
  </message>
  <message>
   <source>Rate limits</source>
   <translation>Ratenbegrenzungen</translation>
  </message>
  <message>
   <source>Rate of a producer</source>
   <translation>Rate eines Producers</translation>
  </message>
  <message>
   <source>Rate of a producer...</source>
   <translation>Rate eines Producers...</translation>
  </message>
  <message>
   <source>Rates are the mean of the last {time}.</source>
   <translation>Raten sind das Mittel der letzten {time}.</translation>
  </message>
  <message>
   <source>Rates, latencies and lag over time.</source>
   <translation>Raten, Latenzen und Rückstand über die Zeit.</translation>
  </message>
  <message>
   <source>Read again</source>
   <translation>Erneut gelesen</translation>
  </message>
  <message>
   <source>Read beside another</source>
   <translation>Neben einem anderen gelesen</translation>
  </message>
  <message>
   <source>Read by</source>
   <translation>Gelesen von</translation>
  </message>
  <message>
   <source>Read now by</source>
   <translation>Jetzt gelesen von</translation>
  </message>
  <message>
   <source>Read-only</source>
   <translation>Nur lesen</translation>
  </message>
  <message>
   <source>Reader</source>
   <translation>Leser</translation>
  </message>
  <message>
   <source>Readers</source>
   <translation>Leser</translation>
  </message>
  <message>
   <source>Reading</source>
   <translation>Liest</translation>
  </message>
  <message>
   <source>Reading began</source>
   <translation>Lesen begonnen</translation>
  </message>
  <message>
   <source>Reading ended</source>
   <translation>Lesen beendet</translation>
  </message>
  <message>
   <source>Reading the messages of {name}</source>
   <translation>Die Nachrichten von {name} werden gelesen</translation>
  </message>
  <message>
   <source>Reading {name}</source>
   <translation>{name} wird gelesen</translation>
  </message>
  <message>
   <source>Reading...</source>
   <translation>Wird gelesen...</translation>
  </message>
  <message>
   <source>Reads</source>
   <translation>Liest</translation>
  </message>
  <message>
   <source>Reads nothing until it is moved again</source>
   <translation>Liest nichts, bis er wieder verschoben wird</translation>
  </message>
  <message>
   <source>Ready</source>
   <translation>Bereit</translation>
  </message>
  <message>
   <source>Real commits are indexed from a queue, and the indexer has a bug: a commit with more than 2,000 added lines kills it every time. Without a limit on attempts, such a message would come back forever. Here the third failure is the last: the message goes to the dead letters, with a record of each attempt, and the queue moves on.</source>
   <translation>Echte Commits werden aus einer Queue indiziert, und der Indexer hat einen Fehler: Ein Commit mit mehr als 2.000 hinzugefügten Zeilen bringt ihn jedes Mal zum Absturz. Ohne eine Grenze für Versuche käme eine solche Nachricht immer wieder. Hier ist der dritte Fehlschlag der letzte: Die Nachricht geht mit einem Protokoll jedes Versuchs zu den Dead Letters, und die Queue macht weiter.</translation>
  </message>
  <message>
   <source>Real commits from ten message-broker projects, in their real order and with their real gaps; a day takes a second. Three indexers share six partitions, and one waits on the bench. builds is a work queue whose workers fail now and then. mails is a bounded topic whose only reader is slow.</source>
   <translation>Echte Commits aus zehn Message-Broker-Projekten, in ihrer echten Reihenfolge und mit ihren echten Abständen; ein Tag dauert eine Sekunde. Drei indexers teilen sich sechs Partitionen, und einer wartet auf der Bank. builds ist eine Work Queue, deren Worker ab und zu scheitern. mails ist ein begrenztes Topic, dessen einziger Leser langsam ist.</translation>
  </message>
  <message>
   <source>Reason</source>
   <translation>Grund</translation>
  </message>
  <message>
   <source>Rebalance</source>
   <translation>Rebalance</translation>
  </message>
  <message>
   <source>Rebalance completed</source>
   <translation>Rebalance abgeschlossen</translation>
  </message>
  <message>
   <source>Rebalance of {group} at {time}</source>
   <translation>Rebalance von {group} um {time}</translation>
  </message>
  <message>
   <source>Rebalance started</source>
   <translation>Rebalance begonnen</translation>
  </message>
  <message>
   <source>Rebalances</source>
   <translation>Rebalances</translation>
  </message>
  <message>
   <source>Rebalances and inspector.</source>
   <translation>Rebalances und Inspektor.</translation>
  </message>
  <message>
   <source>Rebalances and owners</source>
   <translation>Rebalances und Besitzer</translation>
  </message>
  <message>
   <source>Rebalancing</source>
   <translation>Rebalance läuft</translation>
  </message>
  <message>
   <source>Recent reports.</source>
   <translation>Die letzten Berichte.</translation>
  </message>
  <message>
   <source>Recipes for tests with a broker.</source>
   <translation>Rezepte für Tests mit einem Broker.</translation>
  </message>
  <message>
   <source>Reconciling</source>
   <translation>Abgleich</translation>
  </message>
  <message>
   <source>Record</source>
   <translation>Aufzeichnen</translation>
  </message>
  <message>
   <source>Record each session from its beginning</source>
   <translation>Jede Sitzung von Anfang an aufzeichnen</translation>
  </message>
  <message>
   <source>Record no addresses of hosts</source>
   <translation>Keine Hostadressen aufzeichnen</translation>
  </message>
  <message>
   <source>Recorded</source>
   <translation>Aufgezeichnet</translation>
  </message>
  <message>
   <source>Recorded with</source>
   <translation>Aufgezeichnet mit</translation>
  </message>
  <message>
   <source>Recording</source>
   <translation>Aufzeichnung</translation>
  </message>
  <message>
   <source>Recording {size}</source>
   <translation>Aufzeichnung {size}</translation>
  </message>
  <message>
   <source>Recordings of any size</source>
   <translation>Aufzeichnungen beliebiger Größe</translation>
  </message>
  <message>
   <source>Records deleted</source>
   <translation>Einträge gelöscht</translation>
  </message>
  <message>
   <source>Redelivered</source>
   <translation>Erneut zugestellt</translation>
  </message>
  <message>
   <source>Redo</source>
   <translation>Wiederholen</translation>
  </message>
  <message>
   <source>Redo: {what}</source>
   <translation>Wiederholen: {what}</translation>
  </message>
  <message>
   <source>Redoes the last undone action.</source>
   <translation>Wiederholt die zuletzt rückgängig gemachte Aktion.</translation>
  </message>
  <message>
   <source>Redrive</source>
   <translation>Redrive</translation>
  </message>
  <message>
   <source>Redrive a dead letter. The bug is still there, so it comes back, and its redrives are counted.</source>
   <translation>Schicken Sie eine Dead Letter per Redrive zurück. Der Fehler ist noch da, also kommt sie wieder, und ihre Redrives werden gezählt.</translation>
  </message>
  <message>
   <source>Redrive all</source>
   <translation>Redrive für alle</translation>
  </message>
  <message>
   <source>Redrive all ({shown:,})</source>
   <translation>Redrive für alle ({shown:,})</translation>
  </message>
  <message>
   <source>Redrive all...</source>
   <translation>Redrive für alle...</translation>
  </message>
  <message>
   <source>Redrive dead letters to see the result for each message here.</source>
   <translation>Lösen Sie einen Redrive aus, um hier zu sehen, was aus jeder Nachricht wurde.</translation>
  </message>
  <message>
   <source>Redrive it (Ctrl+D).</source>
   <translation>Einen Redrive auslösen (Strg+D).</translation>
  </message>
  <message>
   <source>Redrive listed ({shown:,})</source>
   <translation>Redrive für Gezeigte ({shown:,})</translation>
  </message>
  <message>
   <source>Redrive now</source>
   <translation>Redrive starten</translation>
  </message>
  <message>
   <source>Redrive of dead letters: {count}</source>
   <translation>Redrive von Dead Letters: {count}</translation>
  </message>
  <message>
   <source>Redrive selected</source>
   <translation>Redrive für gewählte</translation>
  </message>
  <message>
   <source>Redrive selected ({chosen:,})</source>
   <translation>Redrive für gewählte ({chosen:,})</translation>
  </message>
  <message>
   <source>Redrive...</source>
   <translation>Redrive...</translation>
  </message>
  <message>
   <source>Redriven</source>
   <translation>Per Redrive zurück</translation>
  </message>
  <message>
   <source>Redriven (session)</source>
   <translation>Redrive (Sitzung)</translation>
  </message>
  <message>
   <source>Redriven before: {count}.</source>
   <translation>Schon zurückgeführt: {count}.</translation>
  </message>
  <message>
   <source>Redriven, like all in this list.</source>
   <translation>Per Redrive zurückgeschickt, wie alle in dieser Liste.</translation>
  </message>
  <message>
   <source>Redrives</source>
   <translation>Redrives</translation>
  </message>
  <message>
   <source>Reduced motion: no sliding, no moving dots</source>
   <translation>Weniger Bewegung: kein Gleiten, keine wandernden Punkte</translation>
  </message>
  <message>
   <source>Refused</source>
   <translation>Abgewiesen</translation>
  </message>
  <message>
   <source>Refused  {count}</source>
   <translation>Abgewiesen  {count}</translation>
  </message>
  <message>
   <source>Refused messages</source>
   <translation>Abgewiesene Nachrichten</translation>
  </message>
  <message>
   <source>Refused.</source>
   <translation>Abgewiesen.</translation>
  </message>
  <message>
   <source>Rejected</source>
   <translation>Abgewiesen</translation>
  </message>
  <message>
   <source>Release</source>
   <translation>Freigeben</translation>
  </message>
  <message>
   <source>Released</source>
   <translation>Freigegeben</translation>
  </message>
  <message>
   <source>Remove</source>
   <translation>Entfernen</translation>
  </message>
  <message>
   <source>Remove ACL, quota or user...</source>
   <translation>ACL, Quota oder Benutzer entfernen...</translation>
  </message>
  <message>
   <source>Remove alert</source>
   <translation>Alarm entfernen</translation>
  </message>
  <message>
   <source>Remove alert...</source>
   <translation>Alarm entfernen...</translation>
  </message>
  <message>
   <source>Remove client</source>
   <translation>Client entfernen</translation>
  </message>
  <message>
   <source>Remove for_s. The disk stays full, and the session still continues.</source>
   <translation>Entfernen Sie for_s. Die Platte bleibt voll, und die Sitzung geht trotzdem weiter.</translation>
  </message>
  <message>
   <source>Remove its backlog limit. Nothing is lost now, but the queue keeps growing.</source>
   <translation>Entfernen Sie die Grenze ihres Rückstaus. Nun geht nichts verloren, aber die Queue wächst immer weiter.</translation>
  </message>
  <message>
   <source>Remove this: {what}.</source>
   <translation>Dies entfernen: {what}.</translation>
  </message>
  <message>
   <source>Remove...</source>
   <translation>Entfernen...</translation>
  </message>
  <message>
   <source>Removed a recording ({size}) that was never named, bookmarked or opened.</source>
   <translation>Eine Aufzeichnung ({size}) wurde entfernt, die niemand benannt, mit Lesezeichen versehen oder geöffnet hat.</translation>
  </message>
  <message>
   <source>Removed from {place}: {before}</source>
   <translation>Entfernt bei {place}: {before}</translation>
  </message>
  <message>
   <source>Removed the bookmark {name}.</source>
   <translation>Das Lesezeichen {name} wurde entfernt.</translation>
  </message>
  <message>
   <source>Removed {count:,} recordings ({size}) that were never named, bookmarked or opened.</source>
   <translation>{count:,} Aufzeichnungen ({size}) wurden entfernt, die niemand benannt, mit Lesezeichen versehen oder geöffnet hat.</translation>
  </message>
  <message>
   <source>Replace packer-1 with spare-1. When is the alert over?</source>
   <translation>Ersetzen Sie packer-1 durch spare-1. Wann ist der Alarm vorbei?</translation>
  </message>
  <message>
   <source>Replay</source>
   <translation>Wiedergabe</translation>
  </message>
  <message>
   <source>Replicas</source>
   <translation>Replikate</translation>
  </message>
  <message>
   <source>Replicas assigned</source>
   <translation>Replikate zugeordnet</translation>
  </message>
  <message>
   <source>Reply</source>
   <translation>Antwort</translation>
  </message>
  <message>
   <source>Report</source>
   <translation>Bericht</translation>
  </message>
  <message>
   <source>Report of {name}</source>
   <translation>Bericht über {name}</translation>
  </message>
  <message>
   <source>Request</source>
   <translation>Request</translation>
  </message>
  <message>
   <source>Requests</source>
   <translation>Requests</translation>
  </message>
  <message>
   <source>Requests of the selected connection, by API</source>
   <translation>Requests der ausgewählten Verbindung nach API</translation>
  </message>
  <message>
   <source>Requests/s</source>
   <translation>Anfragen/s</translation>
  </message>
  <message>
   <source>Rerunning it up to {time}...</source>
   <translation>Wird bis {time} noch einmal ausgeführt...</translation>
  </message>
  <message>
   <source>Rerunning the session to save {name}...</source>
   <translation>Die Sitzung wird noch einmal ausgeführt, um {name} zu speichern...</translation>
  </message>
  <message>
   <source>Reruns it up to here; live from here on.</source>
   <translation>Führt sie bis hierher noch einmal aus; ab hier live.</translation>
  </message>
  <message>
   <source>Reset offsets</source>
   <translation>Offsets zurücksetzen</translation>
  </message>
  <message>
   <source>Reset offsets...</source>
   <translation>Offsets zurücksetzen...</translation>
  </message>
  <message>
   <source>Restart client</source>
   <translation>Client neu starten</translation>
  </message>
  <message>
   <source>Restore the height</source>
   <translation>Höhe wiederherstellen</translation>
  </message>
  <message>
   <source>Retention</source>
   <translation>Aufbewahrung</translation>
  </message>
  <message>
   <source>Retention and compaction.</source>
   <translation>Aufbewahrung und Kompaktierung.</translation>
  </message>
  <message>
   <source>Retention deletes whole segments within a second of their expiry. Deleted segments cannot be restored.</source>
   <translation>Die Aufbewahrung löscht ganze Segmente binnen einer Sekunde nach ihrem Ablauf. Gelöschte Segmente lassen sich nicht wiederherstellen.</translation>
  </message>
  <message>
   <source>Retry after</source>
   <translation>Neuer Versuch nach</translation>
  </message>
  <message>
   <source>Returned to the queue; the attempt does not count.</source>
   <translation>Zurück in die Queue; der Versuch zählt nicht.</translation>
  </message>
  <message>
   <source>Review</source>
   <translation>Prüfen</translation>
  </message>
  <message>
   <source>Right after the next one.</source>
   <translation>Gleich nach dem nächsten.</translation>
  </message>
  <message>
   <source>Right after the previous one.</source>
   <translation>Gleich nach dem vorigen.</translation>
  </message>
  <message>
   <source>Right after {event}</source>
   <translation>Gleich nach {event}</translation>
  </message>
  <message>
   <source>Right side</source>
   <translation>Rechte Seite</translation>
  </message>
  <message>
   <source>Rising</source>
   <translation>Steigend</translation>
  </message>
  <message>
   <source>Rows of orders with the same key have the same partition, which is computed from the key. Rows of readings have no key; they are spread over all partitions.</source>
   <translation>Zeilen von orders mit demselben Schlüssel haben dieselbe Partition; sie wird aus dem Schlüssel berechnet. readings hat keine Schlüssel; sie werden über alle Partitionen verteilt.</translation>
  </message>
  <message>
   <source>Rules</source>
   <translation>Regeln</translation>
  </message>
  <message>
   <source>Run</source>
   <translation>Starten</translation>
  </message>
  <message>
   <source>Run fast (F6) up to second 60, then at normal speed again (F5).</source>
   <translation>Schnell laufen lassen (F6) bis Sekunde 60, dann wieder normal (F5).</translation>
  </message>
  <message>
   <source>Run the scenario (F5) or step (F4).</source>
   <translation>Szenario starten (F5) oder einen Schritt gehen (F4).</translation>
  </message>
  <message>
   <source>Run until</source>
   <translation>Laufen bis</translation>
  </message>
  <message>
   <source>Run until...</source>
   <translation>Laufen bis...</translation>
  </message>
  <message>
   <source>Running</source>
   <translation>Läuft</translation>
  </message>
  <message>
   <source>Running until {words}; Space stops it.</source>
   <translation>Läuft bis {words}; Leertaste hält an.</translation>
  </message>
  <message>
   <source>Runs as fast as possible and stops right after the first matching event. Conditions are written like filters, for events and the state around them: {examples}.</source>
   <translation>Läuft so schnell wie möglich und hält gleich nach dem ersten passenden Ereignis an. Bedingungen werden wie Filter geschrieben, für Ereignisse und den Zustand dabei: {examples}.</translation>
  </message>
  <message>
   <source>Runs at the chosen speed.</source>
   <translation>Läuft im gewählten Tempo.</translation>
  </message>
  <message>
   <source>Runs to the next event, then pauses.</source>
   <translation>Läuft bis zum nächsten Ereignis und hält dann an.</translation>
  </message>
  <message>
   <source>STOPPED</source>
   <translation>GESTOPPT</translation>
  </message>
  <message>
   <source>Same as the system</source>
   <translation>Wie im System</translation>
  </message>
  <message>
   <source>Save as scenario</source>
   <translation>Als Szenario speichern</translation>
  </message>
  <message>
   <source>Save as scenario...</source>
   <translation>Als Szenario speichern...</translation>
  </message>
  <message>
   <source>Save as test</source>
   <translation>Als Test speichern</translation>
  </message>
  <message>
   <source>Save as test...</source>
   <translation>Als Test speichern...</translation>
  </message>
  <message>
   <source>Save as...</source>
   <translation>Speichern als...</translation>
  </message>
  <message>
   <source>Save session as</source>
   <translation>Sitzung speichern als</translation>
  </message>
  <message>
   <source>Save session as...</source>
   <translation>Sitzung speichern als...</translation>
  </message>
  <message>
   <source>Save the edit</source>
   <translation>Bearbeitung speichern</translation>
  </message>
  <message>
   <source>Save the scenario</source>
   <translation>Szenario speichern</translation>
  </message>
  <message>
   <source>Save this filter as...</source>
   <translation>Diesen Filter speichern als...</translation>
  </message>
  <message>
   <source>Save {name}</source>
   <translation>{name} speichern</translation>
  </message>
  <message>
   <source>Save...</source>
   <translation>Speichern...</translation>
  </message>
  <message>
   <source>Saved filters</source>
   <translation>Gespeicherte Filter</translation>
  </message>
  <message>
   <source>Saved {at}</source>
   <translation>{at} gespeichert</translation>
  </message>
  <message>
   <source>Scenario</source>
   <translation>Szenario</translation>
  </message>
  <message>
   <source>Scenario as YAML</source>
   <translation>Szenario als YAML</translation>
  </message>
  <message>
   <source>Scenario: {name}</source>
   <translation>Szenario: {name}</translation>
  </message>
  <message>
   <source>Scenarios</source>
   <translation>Szenarien</translation>
  </message>
  <message>
   <source>Scenarios (*.yaml *.yml)</source>
   <translation>Szenarien (*.yaml *.yml)</translation>
  </message>
  <message>
   <source>Scenarios (*.yaml)</source>
   <translation>Szenarien (*.yaml)</translation>
  </message>
  <message>
   <source>Scenarios...</source>
   <translation>Szenarien...</translation>
  </message>
  <message>
   <source>Scheduled</source>
   <translation>Geplant</translation>
  </message>
  <message>
   <source>Scheduled: {what}</source>
   <translation>Geplant: {what}</translation>
  </message>
  <message>
   <source>Schema</source>
   <translation>Schema</translation>
  </message>
  <message>
   <source>Schema evolution</source>
   <translation>Schema-Evolution</translation>
  </message>
  <message>
   <source>Schema refusals</source>
   <translation>Von Schemas abgelehnt</translation>
  </message>
  <message>
   <source>Schema text</source>
   <translation>Text des Schemas</translation>
  </message>
  <message>
   <source>Schemas</source>
   <translation>Schemas</translation>
  </message>
  <message>
   <source>Scrolls to the newest event</source>
   <translation>Scrollt zum neuesten Ereignis</translation>
  </message>
  <message>
   <source>Sealed</source>
   <translation>Versiegelt</translation>
  </message>
  <message>
   <source>Seals the recording and closes the window.</source>
   <translation>Versiegelt die Aufzeichnung und schließt das Fenster.</translation>
  </message>
  <message>
   <source>Search the messages of {topic} for {what}</source>
   <translation>Nachrichten von {topic} nach {what} durchsuchen</translation>
  </message>
  <message>
   <source>Search the scenarios</source>
   <translation>Szenarien durchsuchen</translation>
  </message>
  <message>
   <source>Search titles and texts</source>
   <translation>In Titeln und Texten suchen</translation>
  </message>
  <message>
   <source>Searching the events...</source>
   <translation>Die Ereignisse werden durchsucht...</translation>
  </message>
  <message>
   <source>Searching...</source>
   <translation>Wird gesucht...</translation>
  </message>
  <message>
   <source>Second 0 of the session.</source>
   <translation>Sekunde 0 der Sitzung.</translation>
  </message>
  <message>
   <source>Seconds 80 and 90 are marked on the timeline; nothing else happens.</source>
   <translation>Die Sekunden 80 und 90 sind in der Zeitleiste markiert; sonst geschieht nichts.</translation>
  </message>
  <message>
   <source>Seed</source>
   <translation>Seed</translation>
  </message>
  <message>
   <source>Seed {seed}</source>
   <translation>Seed {seed}</translation>
  </message>
  <message>
   <source>Seek</source>
   <translation>Springen</translation>
  </message>
  <message>
   <source>Seek...</source>
   <translation>Springen (Seek)...</translation>
  </message>
  <message>
   <source>Segments are known only for the present.</source>
   <translation>Segmente sind nur für die Gegenwart bekannt.</translation>
  </message>
  <message>
   <source>Segments of</source>
   <translation>Segmente von</translation>
  </message>
  <message>
   <source>Segments, sizes, corruption.</source>
   <translation>Segmente, Größen, Schäden.</translation>
  </message>
  <message>
   <source>Select a client on the canvas first.</source>
   <translation>Erst einen Client auf der Zeichenfläche wählen.</translation>
  </message>
  <message>
   <source>Select a client that has crashed first.</source>
   <translation>Erst einen abgestürzten Client wählen.</translation>
  </message>
  <message>
   <source>Select a connection first.</source>
   <translation>Erst eine Verbindung wählen.</translation>
  </message>
  <message>
   <source>Select a connection to see its requests by API.</source>
   <translation>Wählen Sie eine Verbindung aus, um ihre Requests nach API zu sehen.</translation>
  </message>
  <message>
   <source>Select a consumer on the canvas first.</source>
   <translation>Erst einen Consumer auf der Zeichenfläche wählen.</translation>
  </message>
  <message>
   <source>Select a consumer or a worker first.</source>
   <translation>Erst einen Consumer oder Worker wählen.</translation>
  </message>
  <message>
   <source>Select a consumer or a worker on the canvas first.</source>
   <translation>Erst einen Consumer oder Worker auf der Zeichenfläche wählen.</translation>
  </message>
  <message>
   <source>Select a dead letter to read it here.</source>
   <translation>Einen Dead Letter wählen, um ihn hier zu lesen.</translation>
  </message>
  <message>
   <source>Select a group on the canvas first.</source>
   <translation>Erst eine Gruppe auf der Zeichenfläche wählen.</translation>
  </message>
  <message>
   <source>Select a message in the panel Messages first.</source>
   <translation>Erst eine Nachricht im Panel Nachrichten wählen.</translation>
  </message>
  <message>
   <source>Select a message to read it here.</source>
   <translation>Eine Nachricht wählen, um sie hier zu lesen.</translation>
  </message>
  <message>
   <source>Select a partition of orders.</source>
   <translation>Eine Partition von orders auswählen.</translation>
  </message>
  <message>
   <source>Select a partition of payments.</source>
   <translation>Eine Partition von payments auswählen.</translation>
  </message>
  <message>
   <source>Select a queue on the canvas first.</source>
   <translation>Erst eine Queue auf der Zeichenfläche wählen.</translation>
  </message>
  <message>
   <source>Select a report first.</source>
   <translation>Erst einen Bericht wählen.</translation>
  </message>
  <message>
   <source>Select a report to read its findings here.</source>
   <translation>Einen Bericht wählen, um hier seine Befunde zu lesen.</translation>
  </message>
  <message>
   <source>Select a row of the panel Access first.</source>
   <translation>Wählen Sie zuerst eine Zeile des Panels Zugriff.</translation>
  </message>
  <message>
   <source>Select a topic on the canvas first.</source>
   <translation>Erst ein Topic auf der Zeichenfläche wählen.</translation>
  </message>
  <message>
   <source>Select a topic, a queue or a group on the canvas first.</source>
   <translation>Erst ein Topic, eine Queue oder eine Gruppe auf der Zeichenfläche wählen.</translation>
  </message>
  <message>
   <source>Select dead letters and redrive them.</source>
   <translation>Wählen Sie Dead Letters aus und schicken Sie sie per Redrive zurück.</translation>
  </message>
  <message>
   <source>Select dead letters first: click one, or Ctrl+A for all.</source>
   <translation>Erst Dead Letters wählen: einen anklicken, oder Strg+A für alle.</translation>
  </message>
  <message>
   <source>Select messages in flight first.</source>
   <translation>Erst Nachrichten in Arbeit wählen.</translation>
  </message>
  <message>
   <source>Select something on the canvas (a group, a consumer, a partition) to see its figures at this moment.</source>
   <translation>Wählen Sie auf der Zeichenfläche etwas aus (eine Gruppe, einen Consumer, eine Partition), um seine Kennzahlen in diesem Moment zu sehen.</translation>
  </message>
  <message>
   <source>Select the group packers, and set your own alert with Ctrl+Alt+Y.</source>
   <translation>Die Gruppe packers auswählen und mit Strg+Alt+Y einen eigenen Alarm setzen.</translation>
  </message>
  <message>
   <source>Select the group ranged and compare the assignors (Ctrl+Alt+A).</source>
   <translation>Die Gruppe ranged auswählen und die Assignors vergleichen (Strg+Alt+A).</translation>
  </message>
  <message>
   <source>Select the partition whose orange part is the largest.</source>
   <translation>Die Partition auswählen, deren oranger Teil am größten ist.</translation>
  </message>
  <message>
   <source>Select the queue refuse and change its limits (Ctrl+Alt+M).</source>
   <translation>Die Queue refuse auswählen und ihre Grenzen ändern (Strg+Alt+M).</translation>
  </message>
  <message>
   <source>Select two of them (with Ctrl). The upper one is compared with the lower one.</source>
   <translation>Zwei davon wählen (mit Strg). Die obere wird mit der unteren verglichen.</translation>
  </message>
  <message>
   <source>Select {many} of them; {count} are selected.</source>
   <translation>{many} davon wählen; {count} sind gewählt.</translation>
  </message>
  <message>
   <source>Send</source>
   <translation>Senden</translation>
  </message>
  <message>
   <source>Send to the bench</source>
   <translation>Auf die Bank setzen</translation>
  </message>
  <message>
   <source>Sends a message, or a stream of them.</source>
   <translation>Sendet eine Nachricht oder einen Strom von Nachrichten.</translation>
  </message>
  <message>
   <source>Sends to</source>
   <translation>Sendet an</translation>
  </message>
  <message>
   <source>Sent back to its origin at least once.</source>
   <translation>Mindestens einmal an seinen Ursprung zurückgeschickt.</translation>
  </message>
  <message>
   <source>Session</source>
   <translation>Sitzung</translation>
  </message>
  <message>
   <source>Session as a page</source>
   <translation>Sitzung als Seite</translation>
  </message>
  <message>
   <source>Session as a page...</source>
   <translation>Sitzung als Seite...</translation>
  </message>
  <message>
   <source>Session clock</source>
   <translation>Sitzungsuhr</translation>
  </message>
  <message>
   <source>Session ended</source>
   <translation>Sitzung beendet</translation>
  </message>
  <message>
   <source>Session seconds per second of wall time, in Run (F5).</source>
   <translation>Sitzungssekunden je Sekunde der Wanduhr, im Lauf (F5).</translation>
  </message>
  <message>
   <source>Session started</source>
   <translation>Sitzung begonnen</translation>
  </message>
  <message>
   <source>Session time</source>
   <translation>Sitzungszeit</translation>
  </message>
  <message>
   <source>Session time
Wall time {wall}</source>
   <translation>Sitzungszeit
Wanduhrzeit {wall}</translation>
  </message>
  <message>
   <source>Session time does not change.</source>
   <translation>Die Sitzungszeit ändert sich nicht.</translation>
  </message>
  <message>
   <source>Session time runs ten times as fast. What happens is the same.</source>
   <translation>Die Sitzungszeit läuft zehnmal so schnell. Was in ihr geschieht, ist dasselbe.</translation>
  </message>
  <message>
   <source>Session time {time}</source>
   <translation>Sitzungszeit {time}</translation>
  </message>
  <message>
   <source>Session time.</source>
   <translation>Sitzungszeit.</translation>
  </message>
  <message>
   <source>Sessions</source>
   <translation>Sitzungen</translation>
  </message>
  <message>
   <source>Sessions in {parent}, the newest first.</source>
   <translation>Sitzungen in {parent}, die neueste zuerst.</translation>
  </message>
  <message>
   <source>Set</source>
   <translation>Setzen</translation>
  </message>
  <message>
   <source>Set abort_every to 1. The readers of booked process nothing, and yet their lag falls to zero.</source>
   <translation>Setzen Sie abort_every auf 1. Die Leser von booked verarbeiten nichts, und doch fällt ihr Rückstand auf null.</translation>
  </message>
  <message>
   <source>Set ageing_ms to 1000. What is left of the priorities?</source>
   <translation>Setzen Sie ageing_ms auf 1000. Was bleibt von den Prioritäten?</translation>
  </message>
  <message>
   <source>Set alert</source>
   <translation>Alarm setzen</translation>
  </message>
  <message>
   <source>Set alert...</source>
   <translation>Alarm setzen...</translation>
  </message>
  <message>
   <source>Set compatibility to FORWARD. Which of the three registrations is allowed then?</source>
   <translation>Setzen Sie die Kompatibilität auf FORWARD. Welche der drei Registrierungen ist dann erlaubt?</translation>
  </message>
  <message>
   <source>Set hot_share to 0 in the file. Four consumers now handle the same load easily.</source>
   <translation>Setzen Sie hot_share in der Datei auf 0. Nun bewältigen vier Consumer dieselbe Last mühelos.</translation>
  </message>
  <message>
   <source>Set keys to 2000. Most messages are the latest of their key now, and there is little to remove.</source>
   <translation>Setzen Sie keys auf 2000. Nun sind die meisten Nachrichten die neuesten ihres Schlüssels, und es gibt wenig zu entfernen.</translation>
  </message>
  <message>
   <source>Set lease_ms to 500, which is often shorter than the work takes. The same message is now painted twice, and acknowledged once.</source>
   <translation>Setzen Sie lease_ms auf 500, was oft kürzer ist, als die Arbeit dauert. Nun wird dieselbe Nachricht zweimal gemalt und einmal bestätigt.</translation>
  </message>
  <message>
   <source>Set linger_ms to 2000 in the file. The batches grow, and so do the swings in the lag of patient-reader.</source>
   <translation>Setzen Sie linger_ms in der Datei auf 2000. Die Batches wachsen, und ebenso die Schwankungen im Rückstand von patient-reader.</translation>
  </message>
  <message>
   <source>Set max_messages to 200. Messages now stay safe for longer, but are old when they arrive.</source>
   <translation>Setzen Sie max_messages auf 200. Nun bleiben Nachrichten länger sicher, sind aber alt, wenn sie ankommen.</translation>
  </message>
  <message>
   <source>Set max_poll_messages to 1. Less is lost and less is done twice, but there are more commits, and each costs something.</source>
   <translation>Setzen Sie max_poll_messages auf 1. Es geht weniger verloren und wird weniger doppelt getan, aber es gibt mehr Commits, und jeder kostet etwas.</translation>
  </message>
  <message>
   <source>Set max_poll_messages to 2. Less work is done twice.</source>
   <translation>Setzen Sie max_poll_messages auf 2. Es wird weniger Arbeit doppelt getan.</translation>
  </message>
  <message>
   <source>Set on_success_divide to 1.5. It uses free room sooner, but is refused more often.</source>
   <translation>Setzen Sie on_success_divide auf 1.5. Er nutzt freien Platz früher, wird aber öfter abgelehnt.</translation>
  </message>
  <message>
   <source>Set partitioner to murmur2, as Java clients do. A customer may now be in a different partition, but still in only one.</source>
   <translation>Setzen Sie den partitioner auf murmur2, wie ihn Java-Clients haben. Ein Kunde liegt nun vielleicht in einer anderen Partition, aber weiterhin nur in einer.</translation>
  </message>
  <message>
   <source>Set prefetch to 1. Then whichever worker is free takes the next message, and the three queues behave alike.</source>
   <translation>Setzen Sie prefetch auf 1. Dann nimmt der jeweils freie Worker die nächste Nachricht, und die drei Queues verhalten sich gleich.</translation>
  </message>
  <message>
   <source>Set processing time...</source>
   <translation>Verarbeitungszeit ändern...</translation>
  </message>
  <message>
   <source>Set quota</source>
   <translation>Quota setzen</translation>
  </message>
  <message>
   <source>Set quota...</source>
   <translation>Quota setzen...</translation>
  </message>
  <message>
   <source>Set rate...</source>
   <translation>Rate ändern...</translation>
  </message>
  <message>
   <source>Set retention_ms to 120000. It costs disk; what does it buy?</source>
   <translation>Setzen Sie retention_ms auf 120000. Es kostet Platz auf der Platte; was bringt es?</translation>
  </message>
  <message>
   <source>Set the assignor of classic to cooperative-sticky. It moves just as little, but needs a second rebalance to do so.</source>
   <translation>Setzen Sie den Assignor von classic auf cooperative-sticky. Er bewegt ebenso wenig, braucht dafür aber einen zweiten Rebalance.</translation>
  </message>
  <message>
   <source>Set the burst of the topic to 200. The queue forms later, but in the end no more messages pass.</source>
   <translation>Setzen Sie den burst des Topics auf 200. Die Schlange bildet sich später, aber am Ende gehen nicht mehr Nachrichten durch.</translation>
  </message>
  <message>
   <source>Set the mean_ms of smooth-worker to 500. Adaptive finds the new pace without being told.</source>
   <translation>Setzen Sie das mean_ms von smooth-worker auf 500. Adaptive findet das neue Tempo, ohne dass man es ihm sagt.</translation>
  </message>
  <message>
   <source>Set the policy of the mailer to drop_oldest. It loses as many messages, but those it has are recent.</source>
   <translation>Setzen Sie die Regel des Mailers auf drop_oldest. Er verliert ebenso viele Nachrichten, aber die, die er hat, sind neu.</translation>
  </message>
  <message>
   <source>Set the policy to reject. Nobody waits now; who loses the most?</source>
   <translation>Setzen Sie die Regel auf reject. Nun wartet niemand; wer verliert am meisten?</translation>
  </message>
  <message>
   <source>Set the rate of both shops to 2,000 messages a second. Each of prompt's messages is one event; so is a whole batch of patient's.</source>
   <translation>Setzen Sie die Rate beider Läden auf 2.000 Nachrichten pro Sekunde. Jede Nachricht von prompt ist ein Ereignis, ebenso ein ganzer Batch von patient.</translation>
  </message>
  <message>
   <source>Set the rate of the failure to 0.5, like a bug that only strikes now and then. Fewer messages become dead letters; how many attempts are worthwhile?</source>
   <translation>Setzen Sie die Rate des Fehlers auf 0.5, wie bei einem Fehler, der nur ab und zu zuschlägt. Weniger Nachrichten werden zu Dead Letters; wie viele Versuche lohnen sich?</translation>
  </message>
  <message>
   <source>Set the rule</source>
   <translation>Regel setzen</translation>
  </message>
  <message>
   <source>Set the wall clock</source>
   <translation>Wanduhr stellen</translation>
  </message>
  <message>
   <source>Set the wall clock...</source>
   <translation>Wanduhr stellen...</translation>
  </message>
  <message>
   <source>Set tombstone_ms to 60000. The tombstones stay longer, so that a reader that is behind still sees the deletion.</source>
   <translation>Setzen Sie tombstone_ms auf 60000. Die Tombstones bleiben länger, sodass auch ein Leser, der zurückliegt, die Löschung noch sieht.</translation>
  </message>
  <message>
   <source>Set your own alert with Ctrl+Alt+Y, and remove it in the Session menu.</source>
   <translation>Setzen Sie mit Strg+Alt+Y einen eigenen Alarm und entfernen Sie ihn im Menü Sitzung.</translation>
  </message>
  <message>
   <source>Sets a rule for messages.</source>
   <translation>Setzt eine Regel für Nachrichten.</translation>
  </message>
  <message>
   <source>Settings</source>
   <translation>Einstellungen</translation>
  </message>
  <message>
   <source>Settings...</source>
   <translation>Einstellungen...</translation>
  </message>
  <message>
   <source>Share group</source>
   <translation>Share-Gruppe</translation>
  </message>
  <message>
   <source>Share groups and subscriptions</source>
   <translation>Share Groups und Abonnements</translation>
  </message>
  <message>
   <source>Share it: File &gt; Session as a page... (Ctrl+Shift+H).</source>
   <translation>Weitergeben: Datei &gt; Sitzung als Seite... (Strg+Umschalt+H).</translation>
  </message>
  <message>
   <source>Shift+F8 goes on from here, Ctrl+R starts it again.</source>
   <translation>Umschalt+F8 setzt sie hier fort, Strg+R startet sie neu.</translation>
  </message>
  <message>
   <source>Shift+F8 goes on from here.</source>
   <translation>Umschalt+F8 setzt sie hier fort.</translation>
  </message>
  <message>
   <source>Shift+F8 goes on past the end, Ctrl+R starts it again.</source>
   <translation>Umschalt+F8 setzt sie über das Ende hinaus fort, Strg+R startet sie neu.</translation>
  </message>
  <message>
   <source>Show all</source>
   <translation>Alle zeigen</translation>
  </message>
  <message>
   <source>Show folder</source>
   <translation>Ordner zeigen</translation>
  </message>
  <message>
   <source>Show its history</source>
   <translation>Ihre Geschichte zeigen</translation>
  </message>
  <message>
   <source>Show less</source>
   <translation>Weniger anzeigen</translation>
  </message>
  <message>
   <source>Show me where</source>
   <translation>Zeigen, wo</translation>
  </message>
  <message>
   <source>Show report folder</source>
   <translation>Ordner des Berichts zeigen</translation>
  </message>
  <message>
   <source>Show session folder</source>
   <translation>Ordner der Sitzung zeigen</translation>
  </message>
  <message>
   <source>Show that moment</source>
   <translation>Diesen Zeitpunkt zeigen</translation>
  </message>
  <message>
   <source>Show the answer</source>
   <translation>Antwort zeigen</translation>
  </message>
  <message>
   <source>Show the dead letters</source>
   <translation>Die Dead Letters zeigen</translation>
  </message>
  <message>
   <source>Show the lanes of the timeline</source>
   <translation>Spuren der Zeitleiste zeigen</translation>
  </message>
  <message>
   <source>Show the lesson</source>
   <translation>Lektion zeigen</translation>
  </message>
  <message>
   <source>Show the one that stayed</source>
   <translation>Die eine, die blieb, zeigen</translation>
  </message>
  <message>
   <source>Show the panels</source>
   <translation>Panels zeigen</translation>
  </message>
  <message>
   <source>Show the {count:,} that do not differ</source>
   <translation>Auch die {count:,} zeigen, die sich nicht unterscheiden</translation>
  </message>
  <message>
   <source>Show the {count:,} that stayed</source>
   <translation>Die {count:,}, die blieben, zeigen</translation>
  </message>
  <message>
   <source>Show this moment</source>
   <translation>Diesen Zeitpunkt zeigen</translation>
  </message>
  <message>
   <source>Show this moment
{when}</source>
   <translation>Diesen Zeitpunkt zeigen
{when}</translation>
  </message>
  <message>
   <source>Show {count:,} more</source>
   <translation>{count:,} weitere zeigen</translation>
  </message>
  <message>
   <source>Show: {title}</source>
   <translation>Zeigen: {title}</translation>
  </message>
  <message>
   <source>Shown</source>
   <translation>Gezeigt</translation>
  </message>
  <message>
   <source>Shows a broker that runs elsewhere, live and recorded. You can make changes on a broker started with brokerscope serve; a Kafka cluster is only read. The broker keeps running when the window is closed.</source>
   <translation>Zeigt einen Broker, der anderswo läuft, live und aufgezeichnet. An einem mit brokerscope serve gestarteten Broker können Sie etwas ändern; ein Kafka-Cluster wird nur gelesen. Der Broker läuft weiter, wenn das Fenster geschlossen wird.</translation>
  </message>
  <message>
   <source>Shows a broker that runs elsewhere.</source>
   <translation>Zeigt einen Broker, der anderswo läuft.</translation>
  </message>
  <message>
   <source>Shows it on the canvas.</source>
   <translation>Zeigt es auf der Zeichenfläche.</translation>
  </message>
  <message>
   <source>Shows the session one second earlier.</source>
   <translation>Zeigt die Sitzung eine Sekunde früher.</translation>
  </message>
  <message>
   <source>Since (session time)</source>
   <translation>Seit (Sitzungszeit)</translation>
  </message>
  <message>
   <source>Since the previous delivery.</source>
   <translation>Seit der vorigen Zustellung.</translation>
  </message>
  <message>
   <source>Since the previous one</source>
   <translation>Seit dem vorigen</translation>
  </message>
  <message>
   <source>Since then</source>
   <translation>Seit damals</translation>
  </message>
  <message>
   <source>Size</source>
   <translation>Größe</translation>
  </message>
  <message>
   <source>Size of each</source>
   <translation>Größe je Nachricht</translation>
  </message>
  <message>
   <source>Size of the session folder.</source>
   <translation>Größe des Sitzungsordners.</translation>
  </message>
  <message>
   <source>Skipped by a reset</source>
   <translation>Durch Zurücksetzen übersprungen</translation>
  </message>
  <message>
   <source>Skipped by its reader</source>
   <translation>Vom Leser übersprungen</translation>
  </message>
  <message>
   <source>Slow down</source>
   <translation>Verlangsamen</translation>
  </message>
  <message>
   <source>Slow down the quick worker of each queue. The weights are wrong now; least loaded adapts by itself.</source>
   <translation>Verlangsamen Sie den schnellen Worker jeder Queue. Die Gewichte stimmen nun nicht mehr; die geringste Last passt sich von selbst an.</translation>
  </message>
  <message>
   <source>Slow down...</source>
   <translation>Verlangsamen...</translation>
  </message>
  <message>
   <source>Slow {name} down</source>
   <translation>{name} verlangsamen</translation>
  </message>
  <message>
   <source>Slowed down</source>
   <translation>Verlangsamt</translation>
  </message>
  <message>
   <source>Slowest</source>
   <translation>Langsamster</translation>
  </message>
  <message>
   <source>Slowest reader: {slowest}</source>
   <translation>Langsamster Leser: {slowest}</translation>
  </message>
  <message>
   <source>Smaller text</source>
   <translation>Kleinere Schrift</translation>
  </message>
  <message>
   <source>So far</source>
   <translation>Bis jetzt</translation>
  </message>
  <message>
   <source>So far, nothing is known about a message there.</source>
   <translation>Über eine Nachricht dort ist bis jetzt nichts bekannt.</translation>
  </message>
  <message>
   <source>Software</source>
   <translation>Software</translation>
  </message>
  <message>
   <source>Something is missing at the end: a word, or a condition such as lag &gt; 100.</source>
   <translation>Am Ende fehlt etwas: ein Wort oder eine Bedingung wie lag &gt; 100.</translation>
  </message>
  <message>
   <source>Something must be done, and the problem will not go away by itself. So a good alert watches what users notice, and waits long enough for a burst to pass. A figure that only helps to explain a problem can stay a chart.</source>
   <translation>Es muss etwas getan werden, und das Problem verschwindet nicht von selbst. Ein guter Alarm beobachtet also, was Benutzer spüren, und wartet lange genug, bis ein Schub vorbei ist. Eine Kennzahl, die ein Problem nur erklärt, kann ein Diagramm bleiben.</translation>
  </message>
  <message>
   <source>Space plays; Left and Right move by a second, with Shift by ten, with Ctrl by an event; Home and End go to the ends; Tab moves through the drawing, Up and Down through partitions.</source>
   <translation>Die Leertaste spielt ab; Links und Rechts gehen um eine Sekunde, mit Umschalt um zehn, mit Strg um ein Ereignis; Pos1 und Ende gehen an die Enden; Tab geht durch die Zeichnung, Auf und Ab durch die Partitionen.</translation>
  </message>
  <message>
   <source>Speed</source>
   <translation>Tempo</translation>
  </message>
  <message>
   <source>Spread</source>
   <translation>Streuung</translation>
  </message>
  <message>
   <source>Stable</source>
   <translation>Stabil</translation>
  </message>
  <message>
   <source>Start</source>
   <translation>Anfang</translation>
  </message>
  <message>
   <source>Start again</source>
   <translation>Neu starten</translation>
  </message>
  <message>
   <source>Start again with a new seed</source>
   <translation>Mit neuem Seed neu starten</translation>
  </message>
  <message>
   <source>Start the lesson over</source>
   <translation>Lektion von vorn beginnen</translation>
  </message>
  <message>
   <source>Started</source>
   <translation>Begonnen</translation>
  </message>
  <message>
   <source>Starting</source>
   <translation>Beginnt</translation>
  </message>
  <message>
   <source>Starting Spark</source>
   <translation>Spark startet</translation>
  </message>
  <message>
   <source>Starts at the earliest message</source>
   <translation>Beginnt bei der frühesten Nachricht</translation>
  </message>
  <message>
   <source>Starts at the end: only messages published from now on</source>
   <translation>Beginnt am Ende: nur was von jetzt an veröffentlicht wird</translation>
  </message>
  <message>
   <source>Starts it with empty memory.</source>
   <translation>Startet ihn mit leerem Speicher.</translation>
  </message>
  <message>
   <source>State</source>
   <translation>Zustand</translation>
  </message>
  <message>
   <source>Static member: keeps its partitions across a restart</source>
   <translation>Statisches Mitglied: behält seine Partitionen über einen Neustart hinweg</translation>
  </message>
  <message>
   <source>Static members</source>
   <translation>Statische Mitglieder</translation>
  </message>
  <message>
   <source>Stays</source>
   <translation>Bleibt</translation>
  </message>
  <message>
   <source>Steady</source>
   <translation>Konstant</translation>
  </message>
  <message>
   <source>Step</source>
   <translation>Schritt</translation>
  </message>
  <message>
   <source>Stepped to {event}</source>
   <translation>Ein Schritt bis {event}</translation>
  </message>
  <message>
   <source>Sticky moves only the partitions of the member that left, but all members stop during the rebalance.</source>
   <translation>Sticky bewegt nur die Partitionen des Mitglieds, das gegangen ist; während des Rebalance stehen aber alle Mitglieder still.</translation>
  </message>
  <message>
   <source>Stop</source>
   <translation>Stopp</translation>
  </message>
  <message>
   <source>Stop all faults</source>
   <translation>Alle Störungen beenden</translation>
  </message>
  <message>
   <source>Stop its consumers, reset, and start them again</source>
   <translation>Ihre Consumer stoppen, zurücksetzen und wieder starten</translation>
  </message>
  <message>
   <source>Stop the redrive</source>
   <translation>Redrive stoppen</translation>
  </message>
  <message>
   <source>Stop the session (F8), then export a report (Ctrl+E): Spark computes it from the recording.</source>
   <translation>Sitzung stoppen (F8), dann einen Bericht exportieren (Strg+E): Spark errechnet ihn aus der Aufzeichnung.</translation>
  </message>
  <message>
   <source>Stop the session first (F8); this seals its recording.</source>
   <translation>Erst die Sitzung stoppen (F8); das versiegelt ihre Aufzeichnung.</translation>
  </message>
  <message>
   <source>Stopped</source>
   <translation>Gestoppt</translation>
  </message>
  <message>
   <source>Stopped right after {found}</source>
   <translation>Angehalten gleich nach {found}</translation>
  </message>
  <message>
   <source>Stops and removes the selected client.</source>
   <translation>Stoppt und entfernt den ausgewählten Client.</translation>
  </message>
  <message>
   <source>Stops it; nothing recorded is lost.</source>
   <translation>Hält es an; nichts Aufgezeichnetes geht verloren.</translation>
  </message>
  <message>
   <source>Stops the client, including its heartbeats.</source>
   <translation>Hält den Client samt seinen Heartbeats an.</translation>
  </message>
  <message>
   <source>Stops the session clock.</source>
   <translation>Hält die Sitzungsuhr an.</translation>
  </message>
  <message>
   <source>Stops when a condition is first met.</source>
   <translation>Hält an, sobald eine Bedingung erfüllt ist.</translation>
  </message>
  <message>
   <source>Stored</source>
   <translation>Gespeichert</translation>
  </message>
  <message>
   <source>Stored or sent bytes fail their checksum</source>
   <translation>Gespeicherte oder gesendete Bytes passen nicht zu ihrer Prüfsumme</translation>
  </message>
  <message>
   <source>Stubborn is refused three times for every two messages that get in; adaptive only once for about every seven.</source>
   <translation>Stubborn wird dreimal abgelehnt, wenn zwei Nachrichten durchkommen, adaptive nur etwa einmal auf sieben.</translation>
  </message>
  <message>
   <source>Subject</source>
   <translation>Subject</translation>
  </message>
  <message>
   <source>Subscribe</source>
   <translation>Anmelden</translation>
  </message>
  <message>
   <source>Subscribe group to topic</source>
   <translation>Gruppe für Topic anmelden</translation>
  </message>
  <message>
   <source>Subscribe group to topic...</source>
   <translation>Gruppe für Topic anmelden...</translation>
  </message>
  <message>
   <source>Subscribe {group} to {topic}</source>
   <translation>{group} für {topic} anmelden</translation>
  </message>
  <message>
   <source>Switch</source>
   <translation>Wechseln</translation>
  </message>
  <message>
   <source>Switch to {assignor}</source>
   <translation>Zu {assignor} wechseln</translation>
  </message>
  <message>
   <source>Switches the theme.</source>
   <translation>Wechselt das Farbschema.</translation>
  </message>
  <message>
   <source>System</source>
   <translation>System</translation>
  </message>
  <message>
   <source>Tables as CSV</source>
   <translation>Tabellen als CSV</translation>
  </message>
  <message>
   <source>Tables as Parquet</source>
   <translation>Tabellen als Parquet</translation>
  </message>
  <message>
   <source>Takes ahead at most</source>
   <translation>Nimmt höchstens im Voraus</translation>
  </message>
  <message>
   <source>Targets</source>
   <translation>Ziele</translation>
  </message>
  <message>
   <source>Ten seconds earlier.</source>
   <translation>Zehn Sekunden vorher.</translation>
  </message>
  <message>
   <source>Ten seconds later.</source>
   <translation>Zehn Sekunden später.</translation>
  </message>
  <message>
   <source>Ten times the chosen speed.</source>
   <translation>Zehnmal das gewählte Tempo.</translation>
  </message>
  <message>
   <source>Testing programs</source>
   <translation>Programme testen</translation>
  </message>
  <message>
   <source>Testing reference</source>
   <translation>Referenz zum Testen</translation>
  </message>
  <message>
   <source>Tests (*.py)</source>
   <translation>Tests (*.py)</translation>
  </message>
  <message>
   <source>Text</source>
   <translation>Text</translation>
  </message>
  <message>
   <source>Text (UTF-8)</source>
   <translation>Text (UTF-8)</translation>
  </message>
  <message>
   <source>Text size</source>
   <translation>Schriftgröße</translation>
  </message>
  <message>
   <source>That folder is not writable; choose another one.</source>
   <translation>In diesen Ordner kann nicht geschrieben werden; einen anderen wählen.</translation>
  </message>
  <message>
   <source>The app arrives late, at second 60, and reads all profiles from the beginning, in far fewer messages than were published.</source>
   <translation>Die App kommt spät, in Sekunde 60, und liest alle Profile von Anfang an, in weit weniger Nachrichten, als veröffentlicht wurden.</translation>
  </message>
  <message>
   <source>The arc is the time left; the number is the attempt, from the second on.</source>
   <translation>Der Bogen zeigt die Restzeit; die Zahl ist der Versuch, ab dem zweiten.</translation>
  </message>
  <message>
   <source>The archive reads the same messages at its own pace, and nobody is affected.</source>
   <translation>Das Archiv liest dieselben Nachrichten in seinem eigenen Tempo, und niemand ist davon betroffen.</translation>
  </message>
  <message>
   <source>The attempts at 60 and 80 only leave a mark on the timeline; version 2 stays the latest.</source>
   <translation>Die Versuche in Sekunde 60 und 80 hinterlassen nur eine Marke in der Zeitleiste; Version 2 bleibt die neueste.</translation>
  </message>
  <message>
   <source>The auditor keeps up and loses nothing.</source>
   <translation>Der Auditor hält Schritt und verliert nichts.</translation>
  </message>
  <message>
   <source>The badge says ATTACHED and the address. Its tooltip says how often the cluster is polled, and what a poll costs.</source>
   <translation>Die Plakette sagt VERBUNDEN und die Adresse. Ihr Tooltip sagt, wie oft der Cluster abgefragt wird und was eine Abfrage kostet.</translation>
  </message>
  <message>
   <source>The batch was already appended</source>
   <translation>Der Batch ist schon angehängt</translation>
  </message>
  <message>
   <source>The beginning of the value as text; unprintable characters are escaped.</source>
   <translation>Der Anfang des Werts als Text; nicht druckbare Zeichen sind maskiert.</translation>
  </message>
  <message>
   <source>The bench</source>
   <translation>Die Bank</translation>
  </message>
  <message>
   <source>The bookmark cannot be saved: {error}</source>
   <translation>Das Lesezeichen lässt sich nicht speichern: {error}</translation>
  </message>
  <message>
   <source>The bookmarks in {path} cannot be read: {error}.</source>
   <translation>Die Lesezeichen in {path} lassen sich nicht lesen: {error}.</translation>
  </message>
  <message>
   <source>The brackets are nested too deeply; write it with fewer.</source>
   <translation>Die Klammern sind zu tief verschachtelt; mit weniger schreiben.</translation>
  </message>
  <message>
   <source>The branch begins at {time}; the hatched part belongs to the original session.</source>
   <translation>Der Zweig beginnt bei {time}; der schraffierte Teil gehört zur ursprünglichen Sitzung.</translation>
  </message>
  <message>
   <source>The broker aborts the bank's transaction.</source>
   <translation>Der Broker bricht die Transaktion der Bank ab.</translation>
  </message>
  <message>
   <source>The broker can store nothing more.</source>
   <translation>Der Broker kann nichts mehr speichern.</translation>
  </message>
  <message>
   <source>The broker does not have the SASL mechanism</source>
   <translation>Der Broker hat das SASL-Verfahren nicht</translation>
  </message>
  <message>
   <source>The broker for any program that speaks HTTP.</source>
   <translation>Der Broker für jedes Programm, das HTTP spricht.</translation>
  </message>
  <message>
   <source>The broker has an internal error</source>
   <translation>Der Broker hat einen internen Fehler</translation>
  </message>
  <message>
   <source>The broker has no such assignor</source>
   <translation>Der Broker hat keinen solchen Assignor</translation>
  </message>
  <message>
   <source>The broker runs elsewhere and has no operation that undoes this.</source>
   <translation>Der Broker läuft anderswo und hat keine Operation, die das rückgängig macht.</translation>
  </message>
  <message>
   <source>The busiest authors make some partitions hotter than others.</source>
   <translation>Die fleißigsten Autoren machen manche Partitionen heißer als andere.</translation>
  </message>
  <message>
   <source>The bytes cannot be read in this format</source>
   <translation>Die Bytes lassen sich in diesem Format nicht lesen</translation>
  </message>
  <message>
   <source>The canvas and panels show the session as it was. Meanwhile the session continues and is recorded.</source>
   <translation>Zeichenfläche und Panels zeigen die Sitzung, wie sie war. Währenddessen läuft die Sitzung weiter und wird aufgezeichnet.</translation>
  </message>
  <message>
   <source>The card of a rebalance says how many partitions moved, and for how long nobody read.</source>
   <translation>Die Karte eines Rebalance sagt, wie viele Partitionen gewandert sind und wie lange niemand gelesen hat.</translation>
  </message>
  <message>
   <source>The card says what moved. If a rebalance begins and ends between two polls, it says that the rebalance was seen after it was over.</source>
   <translation>Die Karte zeigt, was den Besitzer gewechselt hat. Beginnt und endet ein Rebalance zwischen zwei Abfragen, steht dort, dass er erst danach gesehen wurde.</translation>
  </message>
  <message>
   <source>The changes to {name} have not been saved.</source>
   <translation>Die Änderungen an {name} sind nicht gespeichert.</translation>
  </message>
  <message>
   <source>The clerks catch up, because on average they are faster than the shop. The archive reads the same messages at its own pace, and neither holds up the other.</source>
   <translation>Die Clerks holen auf, denn im Mittel sind sie schneller als der Shop. Das Archiv liest dieselben Nachrichten in eigenem Tempo, und keiner hält den anderen auf.</translation>
  </message>
  <message>
   <source>The clock of this broker cannot be stopped or moved; open one for tests, with EmbeddedBroker or serve --testing.</source>
   <translation>Die Uhr dieses Brokers lässt sich weder anhalten noch vorstellen; öffnen Sie einen für Tests, mit EmbeddedBroker oder serve --testing.</translation>
  </message>
  <message>
   <source>The cluster is locked: Unlock (in the menu Session) opens it for a while.</source>
   <translation>Der Cluster ist gesperrt: Entsperren (im Menü Sitzung) öffnet ihn für eine Weile.</translation>
  </message>
  <message>
   <source>The cluster knows nothing about it. The window checks it at each poll, and it is recorded. At 01:30 billing-1 becomes slow.</source>
   <translation>Der Cluster weiß davon nichts. Das Fenster prüft den Alarm bei jeder Abfrage, und er wird aufgezeichnet. Um 01:30 wird billing-1 langsam.</translation>
  </message>
  <message>
   <source>The command is in the palette (Ctrl+P): {name}</source>
   <translation>Der Befehl steht in der Palette (Strg+P): {name}</translation>
  </message>
  <message>
   <source>The command line</source>
   <translation>Die Befehlszeile</translation>
  </message>
  <message>
   <source>The complete message.</source>
   <translation>Die vollständige Nachricht.</translation>
  </message>
  <message>
   <source>The condition was not met before the end.</source>
   <translation>Die Bedingung war bis zum Ende nicht erfüllt.</translation>
  </message>
  <message>
   <source>The configuration is not allowed</source>
   <translation>Die Konfiguration ist nicht erlaubt</translation>
  </message>
  <message>
   <source>The connection has already ended.</source>
   <translation>Die Verbindung ist schon beendet.</translation>
  </message>
  <message>
   <source>The consumer whose oldest message has waited longest is the slowest.</source>
   <translation>Der Consumer, dessen älteste Nachricht am längsten wartet, ist der langsamste.</translation>
  </message>
  <message>
   <source>The controller moved</source>
   <translation>Der Controller hat gewechselt</translation>
  </message>
  <message>
   <source>The cost of drawing this window.</source>
   <translation>Der Aufwand, dieses Fenster zu zeichnen.</translation>
  </message>
  <message>
   <source>The credential is not allowed</source>
   <translation>Die Zugangsdaten sind nicht erlaubt</translation>
  </message>
  <message>
   <source>The data directory is open already</source>
   <translation>Das Datenverzeichnis ist schon geöffnet</translation>
  </message>
  <message>
   <source>The dead letters of topics cannot be read.</source>
   <translation>Die Dead Letters von Topics lassen sich nicht lesen.</translation>
  </message>
  <message>
   <source>The dead letters that a program has put into a topic stay there.</source>
   <translation>Die Dead Letters, die ein Programm in ein Topic geschrieben hat, bleiben dort.</translation>
  </message>
  <message>
   <source>The deadline passed before the request could be served</source>
   <translation>Die Frist verstrich, bevor der Request beantwortet werden konnte</translation>
  </message>
  <message>
   <source>The details say when each attempt was made, by whom, and how it failed.</source>
   <translation>Die Einzelheiten zeigen, wann und von wem jeder Versuch gemacht wurde und wie er scheiterte.</translation>
  </message>
  <message>
   <source>The disk is already full.</source>
   <translation>Die Platte ist schon voll.</translation>
  </message>
  <message>
   <source>The disk refused</source>
   <translation>Die Festplatte hat abgelehnt</translation>
  </message>
  <message>
   <source>The drawing scrolls sideways.</source>
   <translation>Die Zeichnung lässt sich seitwärts verschieben.</translation>
  </message>
  <message>
   <source>The end of the scenario; the session continued.</source>
   <translation>Das Ende des Szenarios; die Sitzung ging weiter.</translation>
  </message>
  <message>
   <source>The end of the topic keeps rising, and its start follows 20 to 25 seconds behind, a segment at a time.</source>
   <translation>Das Ende des Topics steigt immer weiter, und sein Anfang folgt 20 bis 25 Sekunden dahinter, ein Segment nach dem anderen.</translation>
  </message>
  <message>
   <source>The end offset of profiles rises as in any log, but its size stays the same. changes has the same messages and keeps growing.</source>
   <translation>Der End-Offset von profiles steigt wie in jedem Log, aber seine Größe bleibt gleich. changes hat dieselben Nachrichten und wächst immer weiter.</translation>
  </message>
  <message>
   <source>The engine controls the time here: run, step or go to a time.</source>
   <translation>Hier steuert die Engine die Zeit: laufen lassen, schrittweise ausführen oder zu einer Zeit gehen.</translation>
  </message>
  <message>
   <source>The fetch session is at another epoch; fetch without one</source>
   <translation>Die Fetch-Session ist in einer anderen Epoche; lesen Sie ohne eine</translation>
  </message>
  <message>
   <source>The filter matches nothing.</source>
   <translation>Der Filter passt auf nichts.</translation>
  </message>
  <message>
   <source>The filter of the navigator finds each of them.</source>
   <translation>Der Filter des Navigators findet jedes davon.</translation>
  </message>
  <message>
   <source>The first burst raises the alert "many parcels".</source>
   <translation>Der erste Schub löst den Alarm „many parcels“ aus.</translation>
  </message>
  <message>
   <source>The first offset of the run.</source>
   <translation>Der erste Offset des Laufs.</translation>
  </message>
  <message>
   <source>The first offset.</source>
   <translation>Der erste Offset.</translation>
  </message>
  <message>
   <source>The first pause causes no rebalance. The second causes two, one without walker-1 and one with it back.</source>
   <translation>Die erste Pause verursacht keinen Rebalance. Die zweite verursacht zwei, einen ohne walker-1 und einen mit ihm zurück.</translation>
  </message>
  <message>
   <source>The first version: there is no earlier one to compare with.</source>
   <translation>Die erste Version: Es gibt keine frühere zum Vergleichen.</translation>
  </message>
  <message>
   <source>The first {count} are listed. Filter, or start elsewhere.</source>
   <translation>Die ersten {count} sind aufgelistet. Filtern oder anderswo beginnen.</translation>
  </message>
  <message>
   <source>The first {count} are listed; filter to see others.</source>
   <translation>Die ersten {count} sind aufgelistet; filtern, um andere zu sehen.</translation>
  </message>
  <message>
   <source>The first {count} events are gone: this session is not recorded.</source>
   <translation>Die ersten {count} Ereignisse sind nicht mehr da: diese Sitzung wird nicht aufgezeichnet.</translation>
  </message>
  <message>
   <source>The first {most:,} of {count:,} are shown; filter to see others.</source>
   <translation>Die ersten {most:,} von {count:,} sind zu sehen; filtern, um andere zu sehen.</translation>
  </message>
  <message>
   <source>The first {shown:,} of {whole:,} bytes are shown.</source>
   <translation>Die ersten {shown:,} von {whole:,} Bytes sind zu sehen.</translation>
  </message>
  <message>
   <source>The folder is not empty, and nothing in it will be overwritten</source>
   <translation>Der Ordner ist nicht leer, und nichts darin wird überschrieben</translation>
  </message>
  <message>
   <source>The folder of the recording.</source>
   <translation>Der Ordner der Aufzeichnung.</translation>
  </message>
  <message>
   <source>The folder of the selected report.</source>
   <translation>Der Ordner des gewählten Berichts.</translation>
  </message>
  <message>
   <source>The form asks for a condition, a name and a time. From now on the alert is active; like all your actions, it is recorded.</source>
   <translation>Das Formular fragt nach Bedingung, Name und Zeit. Der Alarm wird ab jetzt beobachtet und aufgezeichnet wie alles, was von Hand geschieht.</translation>
  </message>
  <message>
   <source>The format of the message is not supported</source>
   <translation>Das Format der Nachricht wird nicht unterstützt</translation>
  </message>
  <message>
   <source>The group already uses {assignor}.</source>
   <translation>Die Gruppe benutzt schon {assignor}.</translation>
  </message>
  <message>
   <source>The group dynamic rebalances.</source>
   <translation>In der Gruppe dynamic gibt es einen Rebalance.</translation>
  </message>
  <message>
   <source>The group has moved on to a newer generation</source>
   <translation>Die Gruppe ist schon in einer neueren Generation</translation>
  </message>
  <message>
   <source>The group has the maximum number of members</source>
   <translation>Die Gruppe hat die Höchstzahl an Mitgliedern</translation>
  </message>
  <message>
   <source>The group id is not allowed</source>
   <translation>Die Group ID ist nicht erlaubt</translation>
  </message>
  <message>
   <source>The group is rebalancing; the member must rejoin</source>
   <translation>Die Gruppe ist im Rebalance; das Mitglied muss neu beitreten</translation>
  </message>
  <message>
   <source>The group or queue; for a published message, each one that reads it.</source>
   <translation>Die Gruppe oder Queue; bei einer gesendeten Nachricht jede, die sie liest.</translation>
  </message>
  <message>
   <source>The group or the queue.</source>
   <translation>Die Gruppe oder die Queue.</translation>
  </message>
  <message>
   <source>The group reads one more topic.</source>
   <translation>Die Gruppe liest ein Topic mehr.</translation>
  </message>
  <message>
   <source>The group reads one topic less.</source>
   <translation>Die Gruppe liest ein Topic weniger.</translation>
  </message>
  <message>
   <source>The group rebalanced. Its members gave up their partitions, rejoined, and the leader shared out the partitions. The card on the right says what moved, and for how long nobody read.</source>
   <translation>Die Gruppe hatte einen Rebalance. Ihre Mitglieder gaben ihre Partitionen ab und traten neu bei, und der Leader verteilte die Partitionen. Die Karte rechts zeigt, was den Besitzer gewechselt hat und wie lange niemand las.</translation>
  </message>
  <message>
   <source>The group still has members</source>
   <translation>Die Gruppe hat noch Mitglieder</translation>
  </message>
  <message>
   <source>The history checker stopped after {count} events; the totals include all of them.</source>
   <translation>Die Prüfung des Verlaufs hörte nach {count} Ereignissen auf; die Summen umfassen alle.</translation>
  </message>
  <message>
   <source>The holder in any of the attempts.</source>
   <translation>Der Halter bei einem der Versuche.</translation>
  </message>
  <message>
   <source>The inspector lists the keys of its last messages. The first has nearly all of them.</source>
   <translation>Der Inspektor listet die Schlüssel ihrer letzten Nachrichten auf. Fast alle haben den ersten.</translation>
  </message>
  <message>
   <source>The inspector says who owns it, since when, and how many messages it holds.</source>
   <translation>Der Inspektor zeigt, wem sie gehört, seit wann und wie viele Nachrichten sie enthält.</translation>
  </message>
  <message>
   <source>The inspector shows its last stable offset and its open transactions. The messages between that offset and the end are in the log, but booked does not read them yet.</source>
   <translation>Der Inspektor zeigt ihren Last Stable Offset und ihre offenen Transaktionen. Die Nachrichten zwischen diesem Offset und dem Ende stehen im Log, aber booked liest sie noch nicht.</translation>
  </message>
  <message>
   <source>The key</source>
   <translation>Der Schlüssel</translation>
  </message>
  <message>
   <source>The keys of {messages} are not recorded: their order is not judged.</source>
   <translation>Die Schlüssel von {messages} sind nicht aufgezeichnet: Ihre Reihenfolge wird nicht beurteilt.</translation>
  </message>
  <message>
   <source>The kind of event: published, nacked, rebalance_started, fault...</source>
   <translation>Die Art des Ereignisses: published, nacked, rebalance_started, fault...</translation>
  </message>
  <message>
   <source>The lag fell below 80 again. The alert is raised again once the lag has been above 80 for another ten seconds.</source>
   <translation>Der Rückstand ist wieder unter 80 gefallen. Der Alarm wird erneut ausgelöst, sobald der Rückstand noch einmal zehn Sekunden über 80 lag.</translation>
  </message>
  <message>
   <source>The lag keeps rising.</source>
   <translation>Der Rückstand steigt weiter.</translation>
  </message>
  <message>
   <source>The lag of booked rises while a transaction is open and falls when it ends. The lag of screens stays near zero.</source>
   <translation>Der Rückstand von booked steigt, solange eine Transaktion offen ist, und fällt, wenn sie endet. Der von screens bleibt nahe null.</translation>
  </message>
  <message>
   <source>The lag of lines grows, because two members do all of its work. In floor, four members share the same messages.</source>
   <translation>Der Rückstand von lines wächst, weil zwei Mitglieder ihre ganze Arbeit tun. In floor teilen sich vier Mitglieder dieselben Nachrichten.</translation>
  </message>
  <message>
   <source>The lag of lines grows.</source>
   <translation>Der Rückstand von lines wächst.</translation>
  </message>
  <message>
   <source>The lag of one partition rises without end; the other seven stay near zero.</source>
   <translation>Der Rückstand einer Partition steigt ohne Ende, die anderen sieben bleiben nahe null.</translation>
  </message>
  <message>
   <source>The lag of packers was above 80. The alert is shown once, above the canvas, and has a red mark on the timeline.</source>
   <translation>Der Rückstand von packers lag über 80. Der Alarm wird einmal über der Zeichenfläche angezeigt und hat eine rote Marke auf der Zeitleiste.</translation>
  </message>
  <message>
   <source>The lag of the counters rises.</source>
   <translation>Der Rückstand der Counter steigt.</translation>
  </message>
  <message>
   <source>The language changes the next time Brokerscope starts.</source>
   <translation>Die Sprache ändert sich beim nächsten Start von Brokerscope.</translation>
  </message>
  <message>
   <source>The language of all filters.</source>
   <translation>Die Sprache aller Filter.</translation>
  </message>
  <message>
   <source>The last event of the message since the redrive.</source>
   <translation>Das letzte Ereignis der Nachricht seit dem Redrive.</translation>
  </message>
  <message>
   <source>The last moment so far.</source>
   <translation>Der letzte Zeitpunkt bis jetzt.</translation>
  </message>
  <message>
   <source>The last ten seconds of this window:
drawing a frame took {cost} ms at the median, {cost_99} ms at the 99th percentile;
it began {late} ms late, {late_99} ms at the 99th percentile, {worst} ms at the worst.</source>
   <translation>Die letzten zehn Sekunden dieses Fensters:
ein Bild zu zeichnen dauerte {cost} ms im Median, {cost_99} ms im 99. Perzentil;
es begann {late} ms zu spät, {late_99} ms im 99. Perzentil, {worst} ms schlimmstenfalls.</translation>
  </message>
  <message>
   <source>The last transaction is not finished yet; try again</source>
   <translation>Die letzte Transaktion ist noch nicht beendet; versuchen Sie es noch einmal</translation>
  </message>
  <message>
   <source>The last {count} are listed while you follow.</source>
   <translation>Die letzten {count} sind aufgelistet, solange Sie mitlesen.</translation>
  </message>
  <message>
   <source>The latest version accepts this message.</source>
   <translation>Die neueste Version nimmt diese Nachricht an.</translation>
  </message>
  <message>
   <source>The lease ends at:</source>
   <translation>Die Lease endet um:</translation>
  </message>
  <message>
   <source>The lease expires while the worker is still working. Another worker also gets the message, and the work is done twice; the first worker's acknowledgement is refused.</source>
   <translation>Die Lease läuft ab, während der Worker noch arbeitet. Ein anderer Worker bekommt die Nachricht auch, und die Arbeit wird zweimal gemacht; die Bestätigung des ersten wird abgewiesen.</translation>
  </message>
  <message>
   <source>The lease has expired or belongs to another consumer</source>
   <translation>Die Lease ist abgelaufen oder gehört einem anderen Consumer</translation>
  </message>
  <message>
   <source>The lease is extended by its full length.</source>
   <translation>Die Lease wird um ihre volle Länge verlängert.</translation>
  </message>
  <message>
   <source>The library</source>
   <translation>Die Bibliothek</translation>
  </message>
  <message>
   <source>The limit is reached; try again later</source>
   <translation>Die Grenze ist erreicht; versuchen Sie es später noch einmal</translation>
  </message>
  <message>
   <source>The log cannot be read.</source>
   <translation>Das Log lässt sich nicht lesen.</translation>
  </message>
  <message>
   <source>The log of this moment is not available.</source>
   <translation>Das Log dieses Moments ist nicht verfügbar.</translation>
  </message>
  <message>
   <source>The maximum number of share sessions is open</source>
   <translation>Die Höchstzahl an Share-Sessions ist offen</translation>
  </message>
  <message>
   <source>The member and the group have no common assignor</source>
   <translation>Das Mitglied und die Gruppe haben keinen gemeinsamen Assignor</translation>
  </message>
  <message>
   <source>The member is not in the group</source>
   <translation>Das Mitglied ist nicht in der Gruppe</translation>
  </message>
  <message>
   <source>The member's epoch is not the group's; the member must rejoin</source>
   <translation>Die Epoche des Mitglieds ist nicht die der Gruppe; das Mitglied muss neu beitreten</translation>
  </message>
  <message>
   <source>The member's epoch is old; the reply to its next heartbeat has the new one</source>
   <translation>Die Epoche des Mitglieds ist alt; die Antwort auf seinen nächsten Heartbeat enthält die neue</translation>
  </message>
  <message>
   <source>The message is larger than the topic allows</source>
   <translation>Die Nachricht ist größer, als das Topic erlaubt</translation>
  </message>
  <message>
   <source>The message is not loaded, so it cannot be copied.</source>
   <translation>Die Nachricht ist nicht geladen und lässt sich daher nicht kopieren.</translation>
  </message>
  <message>
   <source>The message itself is not available. {why}</source>
   <translation>Die Nachricht selbst ist nicht verfügbar. {why}</translation>
  </message>
  <message>
   <source>The message was refused</source>
   <translation>Die Nachricht wurde abgelehnt</translation>
  </message>
  <message>
   <source>The message's whole history.</source>
   <translation>Die ganze Geschichte der Nachricht.</translation>
  </message>
  <message>
   <source>The messages cannot be read.</source>
   <translation>Die Nachrichten lassen sich nicht lesen.</translation>
  </message>
  <message>
   <source>The messages it held but had not committed are delivered again after it rejoins.</source>
   <translation>Die Nachrichten, die er hielt und noch nicht committet hatte, werden nach seinem Wiederbeitritt erneut zugestellt.</translation>
  </message>
  <message>
   <source>The messages that walker-1 held when it paused are processed twice. Its commit comes from an old generation and is fenced.</source>
   <translation>Die Nachrichten, die walker-1 hielt, als er pausierte, werden zweimal verarbeitet. Sein Commit kommt aus einer alten Generation und wird abgewiesen.</translation>
  </message>
  <message>
   <source>The metadata of the commit is too large</source>
   <translation>Die Metadaten des Commits sind zu groß</translation>
  </message>
  <message>
   <source>The name is not allowed</source>
   <translation>Der Name ist nicht erlaubt</translation>
  </message>
  <message>
   <source>The name of a field is written without quotes.</source>
   <translation>Der Name eines Feldes steht ohne Anführungszeichen.</translation>
  </message>
  <message>
   <source>The name of one of my own actions, as in a schedule: move_consumer, redrive...</source>
   <translation>Der Name einer eigenen Aktion, wie in einem Ablauf: move_consumer, redrive...</translation>
  </message>
  <message>
   <source>The name {name} is already taken.</source>
   <translation>Der Name {name} ist schon vergeben.</translation>
  </message>
  <message>
   <source>The name.</source>
   <translation>Der Name.</translation>
  </message>
  <message>
   <source>The navigator lists the open transactions, and how long they have been open.</source>
   <translation>Der Navigator führt die offenen Transaktionen auf und wie lange sie schon offen sind.</translation>
  </message>
  <message>
   <source>The newest {most:,} of {count:,} are shown.</source>
   <translation>Die neuesten {most:,} von {count:,} sind zu sehen.</translation>
  </message>
  <message>
   <source>The next larger text size.</source>
   <translation>Die nächstgrößere Schriftgröße.</translation>
  </message>
  <message>
   <source>The next smaller text size.</source>
   <translation>Die nächstkleinere Schriftgröße.</translation>
  </message>
  <message>
   <source>The nodes of a cluster: who leads, what is in sync, what is gone.</source>
   <translation>Die Knoten eines Clusters: wer führt, was synchron ist, was weg ist.</translation>
  </message>
  <message>
   <source>The number alone does not tell. 500 messages that are processed within ten seconds are fine; a lag that rises on average never ends. Look at its trend, and at the age of the last committed message.</source>
   <translation>Die Zahl allein sagt das nicht. 500 Nachrichten, die in zehn Sekunden abgearbeitet sind, sind in Ordnung; ein Rückstand, der im Mittel wächst, endet nie. Entscheidend sind sein Verlauf und das Alter der letzten committeten Nachricht.</translation>
  </message>
  <message>
   <source>The number of partitions is not allowed</source>
   <translation>Die Zahl der Partitionen ist nicht erlaubt</translation>
  </message>
  <message>
   <source>The number published is the difference between two polls. A cluster does not reveal who published, so no producer is drawn.</source>
   <translation>Die Zahl der gesendeten Nachrichten ist die Differenz zweier Abfragen. Ein Cluster verrät nicht, wer gesendet hat; deshalb ist kein Producer gezeichnet.</translation>
  </message>
  <message>
   <source>The offset is outside the log</source>
   <translation>Der Offset liegt außerhalb des Logs</translation>
  </message>
  <message>
   <source>The order of all of a customer's messages. Messages within one hour stay in order; those from different hours may be in different partitions, with different owners.</source>
   <translation>Die Reihenfolge aller Nachrichten eines Kunden. Nachrichten derselben Stunde bleiben in der richtigen Reihenfolge; Nachrichten verschiedener Stunden können in verschiedenen Partitionen mit verschiedenen Besitzern liegen.</translation>
  </message>
  <message>
   <source>The order. Two messages with the same key may be processed at the same time, and one that fails is delivered again after those behind it. If the order of a key matters, use a group whose partitions have owners.</source>
   <translation>Die Reihenfolge. Zwei Nachrichten mit demselben Schlüssel können gleichzeitig verarbeitet werden, und eine gescheiterte wird erst nach den folgenden erneut zugestellt. Wo es auf die Reihenfolge je Schlüssel ankommt, braucht man eine Gruppe, deren Partitionen Besitzer haben.</translation>
  </message>
  <message>
   <source>The other members of its group, and nobody else. They get its partitions once indexer-2's session has timed out and the group has rebalanced. Until then, nobody reads them, and their lag rises.</source>
   <translation>Die anderen Mitglieder seiner Gruppe und niemand sonst. Sie bekommen seine Partitionen, wenn das Session-Timeout von indexer-2 abgelaufen ist und die Gruppe einen Rebalance hatte. Bis dahin liest sie niemand, und ihr Rückstand wächst.</translation>
  </message>
  <message>
   <source>The other three carried on at once, without a rebalance. After four seconds the lock on its message expired, and the message was delivered to another member, as attempt 2.</source>
   <translation>Die anderen drei machten sofort weiter, ohne Rebalance. Nach vier Sekunden lief die Sperre auf seiner Nachricht ab, und sie wurde einem anderen Mitglied zugestellt, als Versuch 2.</translation>
  </message>
  <message>
   <source>The other {more} were not tried.</source>
   <translation>Die anderen {more} wurden nicht versucht.</translation>
  </message>
  <message>
   <source>The owner of the hot partition is always busy; the others mostly wait.</source>
   <translation>Der Besitzer der heißen Partition ist immer beschäftigt, die anderen warten meistens.</translation>
  </message>
  <message>
   <source>The owners of each partition of a group over time.</source>
   <translation>Die Besitzer jeder Partition einer Gruppe im Lauf der Zeit.</translation>
  </message>
  <message>
   <source>The packers are fast enough on average. People soon ignore an alert that every burst raises, even when it is right.</source>
   <translation>Die Packer sind im Mittel schnell genug. Ein Alarm, den jeder Schub auslöst, wird bald ignoriert, auch wenn er recht hat.</translation>
  </message>
  <message>
   <source>The page has the state at each whole second; in between, it shows the earlier one.</source>
   <translation>Die Seite hat den Stand zu jeder vollen Sekunde; dazwischen zeigt sie den jeweils früheren.</translation>
  </message>
  <message>
   <source>The panel Dead letters (Ctrl+4) lists them; open it first.</source>
   <translation>Das Panel Dead Letters (Strg+4) listet sie auf; öffnen Sie es zuerst.</translation>
  </message>
  <message>
   <source>The panel {name} is hidden; show it with View &gt; Panels.</source>
   <translation>Das Panel {name} ist ausgeblendet; zeigen Sie es mit Ansicht &gt; Panels.</translation>
  </message>
  <message>
   <source>The panels below the canvas.</source>
   <translation>Die Panels unter der Zeichenfläche.</translation>
  </message>
  <message>
   <source>The part of the session is empty: its end must be after its beginning.</source>
   <translation>Der Teil der Sitzung ist leer: Sein Ende muss nach seinem Anfang liegen.</translation>
  </message>
  <message>
   <source>The partition ends at {end}.</source>
   <translation>Die Partition endet bei {end}.</translation>
  </message>
  <message>
   <source>The partition.</source>
   <translation>Die Partition.</translation>
  </message>
  <message>
   <source>The past can be played no faster than fast (F6).</source>
   <translation>Die Vergangenheit läuft höchstens mit Schnell (F6).</translation>
  </message>
  <message>
   <source>The past: nothing can be changed here. Alt+Right returns to the present.</source>
   <translation>Die Vergangenheit: Hier lässt sich nichts ändern. Alt+Rechts kehrt in die Gegenwart zurück.</translation>
  </message>
  <message>
   <source>The plan no longer holds, and nothing was done</source>
   <translation>Der Plan gilt nicht mehr, und nichts wurde getan</translation>
  </message>
  <message>
   <source>The present is already shown.</source>
   <translation>Die Gegenwart ist schon zu sehen.</translation>
  </message>
  <message>
   <source>The previous item.</source>
   <translation>Der vorige Eintrag.</translation>
  </message>
  <message>
   <source>The previous owner.</source>
   <translation>Der vorige Besitzer.</translation>
  </message>
  <message>
   <source>The producer waits from second 30 to 50, then sends everything it has held back. Nothing is lost, and nothing is stored twice.</source>
   <translation>Der Producer wartet von Sekunde 30 bis 50 und sendet dann alles, was er zurückgehalten hat. Nichts geht verloren, und nichts wird zweimal gespeichert.</translation>
  </message>
  <message>
   <source>The producer's sequence number is out of order</source>
   <translation>Die Sequenznummer des Producers ist nicht an der Reihe</translation>
  </message>
  <message>
   <source>The reader is not affected at all. That is what the schema is for.</source>
   <translation>Der Leser ist überhaupt nicht betroffen. Dafür ist das Schema da.</translation>
  </message>
  <message>
   <source>The readers are back at work.</source>
   <translation>Die Leser arbeiten wieder.</translation>
  </message>
  <message>
   <source>The recording is incomplete, so nothing is judged: {problem}</source>
   <translation>Die Aufzeichnung ist unvollständig, deshalb wird nichts beurteilt: {problem}</translation>
  </message>
  <message>
   <source>The recording is incomplete: {problem}</source>
   <translation>Die Aufzeichnung ist nicht vollständig: {problem}</translation>
  </message>
  <message>
   <source>The records of a topic or queue.</source>
   <translation>Die Einträge eines Topics oder einer Queue.</translation>
  </message>
  <message>
   <source>The redrive of {count} has finished; the view Redriven lists the results.</source>
   <translation>Der Redrive von {count} ist fertig; die Ansicht „Per Redrive zurück“ zeigt die Ergebnisse.</translation>
  </message>
  <message>
   <source>The regular expression is not valid</source>
   <translation>Der reguläre Ausdruck ist ungültig</translation>
  </message>
  <message>
   <source>The remaining messages stay dead letters.</source>
   <translation>Die übrigen Nachrichten bleiben Dead Letters.</translation>
  </message>
  <message>
   <source>The repair. Without it, redriven messages fail again and waste the workers' time. Try one message first, then redrive the others at a limited rate.</source>
   <translation>Die Reparatur. Ohne sie scheitern die zurückgeschickten Nachrichten wieder und kosten die Worker Zeit. Erst eine Nachricht probieren, dann die anderen mit begrenzter Rate zurückschicken.</translation>
  </message>
  <message>
   <source>The replication factor is not supported</source>
   <translation>Der Replikationsfaktor wird nicht unterstützt</translation>
  </message>
  <message>
   <source>The report has been written to {page}</source>
   <translation>Der Bericht wurde nach {page} geschrieben</translation>
  </message>
  <message>
   <source>The report job could not be started: {error}.</source>
   <translation>Der Berichtsauftrag konnte nicht gestartet werden: {error}.</translation>
  </message>
  <message>
   <source>The request is malformed</source>
   <translation>Der Request ist fehlerhaft</translation>
  </message>
  <message>
   <source>The request is too large</source>
   <translation>Der Request ist zu groß</translation>
  </message>
  <message>
   <source>The request names the user twice</source>
   <translation>Der Request nennt den Benutzer zweimal</translation>
  </message>
  <message>
   <source>The requests of Kafka programs, one by one.</source>
   <translation>Die Requests von Kafka-Programmen, einzeln.</translation>
  </message>
  <message>
   <source>The rerun has not reached that moment yet.</source>
   <translation>Die Wiederholung hat diesen Moment noch nicht erreicht.</translation>
  </message>
  <message>
   <source>The result of each redrive.</source>
   <translation>Das Ergebnis jedes Redrives.</translation>
  </message>
  <message>
   <source>The ring around a message in flight is its lease. Four seconds after the crash, one lease expires, and its message is taken again, as attempt 2.</source>
   <translation>Der Ring um eine Nachricht in Arbeit ist ihre Lease. Vier Sekunden nach dem Absturz läuft eine Lease ab, und ihre Nachricht wird noch einmal genommen, als Versuch 2.</translation>
  </message>
  <message>
   <source>The same scenario with the same seed.</source>
   <translation>Dasselbe Szenario mit demselben Seed.</translation>
  </message>
  <message>
   <source>The same seed and scenario give the same session.</source>
   <translation>Derselbe Seed und dasselbe Szenario ergeben dieselbe Sitzung.</translation>
  </message>
  <message>
   <source>The scenario cannot be shown: its file cannot be read.</source>
   <translation>Das Szenario lässt sich nicht anzeigen: Seine Datei ist nicht lesbar.</translation>
  </message>
  <message>
   <source>The scenario could not be written to {path}: {error}.</source>
   <translation>Das Szenario konnte nicht nach {path} geschrieben werden: {error}.</translation>
  </message>
  <message>
   <source>The scenario has been saved to {path}.</source>
   <translation>Das Szenario wurde in {path} gespeichert.</translation>
  </message>
  <message>
   <source>The scenario has ended. The session continues because a listener is open.</source>
   <translation>Das Szenario ist zu Ende. Die Sitzung läuft weiter, weil ein Listener geöffnet ist.</translation>
  </message>
  <message>
   <source>The schema is not compatible</source>
   <translation>Das Schema ist nicht kompatibel</translation>
  </message>
  <message>
   <source>The schema is not valid</source>
   <translation>Das Schema ist ungültig</translation>
  </message>
  <message>
   <source>The selected report.</source>
   <translation>Der gewählte Bericht.</translation>
  </message>
  <message>
   <source>The selected row.</source>
   <translation>Was dort ausgewählt ist.</translation>
  </message>
  <message>
   <source>The session continues from {at}, where it was stopped.</source>
   <translation>Die Sitzung läuft ab {at} weiter, wo sie gestoppt wurde.</translation>
  </message>
  <message>
   <source>The session continues past the end of its scenario; F8 ends it.</source>
   <translation>Die Sitzung läuft über das Ende ihres Szenarios hinaus weiter; F8 beendet sie.</translation>
  </message>
  <message>
   <source>The session ended.</source>
   <translation>Die Sitzung ist zu Ende.</translation>
  </message>
  <message>
   <source>The session has already ended.</source>
   <translation>Die Sitzung ist schon zu Ende.</translation>
  </message>
  <message>
   <source>The session has ended. Continue it (Shift+F8) or start it again (Ctrl+R) to change it.</source>
   <translation>Die Sitzung ist zu Ende. Zum Ändern fortsetzen (Umschalt+F8) oder neu starten (Strg+R).</translation>
  </message>
  <message>
   <source>The session has reached {time} so far.</source>
   <translation>Die Sitzung ist bisher bis {time} gekommen.</translation>
  </message>
  <message>
   <source>The session is already continuing past its end.</source>
   <translation>Die Sitzung läuft schon über ihr Ende hinaus.</translation>
  </message>
  <message>
   <source>The session timeout is outside the allowed range</source>
   <translation>Der Session-Timeout liegt außerhalb des erlaubten Bereichs</translation>
  </message>
  <message>
   <source>The session was still running when this page was made.</source>
   <translation>Die Sitzung lief noch, als diese Seite erstellt wurde.</translation>
  </message>
  <message>
   <source>The session was stopped before it reached {at} again.</source>
   <translation>Die Sitzung wurde gestoppt, bevor sie wieder bei {at} ankam.</translation>
  </message>
  <message>
   <source>The session was stopped.</source>
   <translation>Die Sitzung wurde gestoppt.</translation>
  </message>
  <message>
   <source>The share session is at another epoch; open another</source>
   <translation>Die Share-Session ist in einer anderen Epoche; öffnen Sie eine neue</translation>
  </message>
  <message>
   <source>The shop aborts a transaction.</source>
   <translation>shop bricht eine Transaktion ab.</translation>
  </message>
  <message>
   <source>The state of a group: Stable, Empty, PreparingRebalance, CompletingRebalance.</source>
   <translation>Der Zustand einer Gruppe: Stable, Empty, PreparingRebalance, CompletingRebalance.</translation>
  </message>
  <message>
   <source>The state of the group or client: stable, blocked, crashed...</source>
   <translation>Der Zustand der Gruppe oder des Clients: stable, blocked, crashed...</translation>
  </message>
  <message>
   <source>The state of the group.</source>
   <translation>Der Zustand der Gruppe.</translation>
  </message>
  <message>
   <source>The state of the transaction does not allow this</source>
   <translation>Der Zustand der Transaktion erlaubt das nicht</translation>
  </message>
  <message>
   <source>The steps of the lesson.</source>
   <translation>Die Schritte der Lektion.</translation>
  </message>
  <message>
   <source>The stored data are damaged</source>
   <translation>Die gespeicherten Daten sind beschädigt</translation>
  </message>
  <message>
   <source>The subject has no such version</source>
   <translation>Das Subject hat keine solche Version</translation>
  </message>
  <message>
   <source>The text of one field; name ~= ^x.*y$ takes a regular expression (RE2).</source>
   <translation>Der Text eines Feldes; name ~= ^x.*y$ nimmt einen regulären Ausdruck (RE2).</translation>
  </message>
  <message>
   <source>The text of the open scenario.</source>
   <translation>Der Text des offenen Szenarios.</translation>
  </message>
  <message>
   <source>The text size cannot be changed any further.</source>
   <translation>Die Schriftgröße lässt sich nicht weiter ändern.</translation>
  </message>
  <message>
   <source>The time range is empty: it ends before it begins.</source>
   <translation>Der Zeitraum ist leer: Er endet, bevor er beginnt.</translation>
  </message>
  <message>
   <source>The topic has no dead letters</source>
   <translation>Das Topic hat keine Dead Letters</translation>
  </message>
  <message>
   <source>The topic or queue.</source>
   <translation>Das Topic oder die Queue.</translation>
  </message>
  <message>
   <source>The topic, group or queue of a client.</source>
   <translation>Das Topic, die Gruppe oder die Queue eines Clients.</translation>
  </message>
  <message>
   <source>The transaction has failed and must be aborted</source>
   <translation>Die Transaktion ist fehlgeschlagen und muss abgebrochen werden</translation>
  </message>
  <message>
   <source>The transaction timeout is outside the allowed range</source>
   <translation>Der Timeout der Transaktion liegt außerhalb des erlaubten Bereichs</translation>
  </message>
  <message>
   <source>The transactional id belongs to another producer id</source>
   <translation>Die Transactional ID gehört zu einer anderen Producer-ID</translation>
  </message>
  <message>
   <source>The tree on the left.</source>
   <translation>Der Baum links.</translation>
  </message>
  <message>
   <source>The two runs agree in every figure.</source>
   <translation>Die beiden Läufe stimmen in jeder Kennzahl überein.</translation>
  </message>
  <message>
   <source>The value</source>
   <translation>Der Wert</translation>
  </message>
  <message>
   <source>The value cannot be written in this format</source>
   <translation>Der Wert lässt sich in diesem Format nicht schreiben</translation>
  </message>
  <message>
   <source>The value is empty.</source>
   <translation>Der Wert ist leer.</translation>
  </message>
  <message>
   <source>The version of the request is not supported</source>
   <translation>Die Version des Requests wird nicht unterstützt</translation>
  </message>
  <message>
   <source>The version of the session format is not supported</source>
   <translation>Die Version des Sitzungsformats wird nicht unterstützt</translation>
  </message>
  <message>
   <source>The whole payload as text, even if only part of it is shown</source>
   <translation>Die ganze Payload als Text, auch wenn nur ein Teil davon zu sehen ist</translation>
  </message>
  <message>
   <source>The window</source>
   <translation>Das Fenster</translation>
  </message>
  <message>
   <source>The window on a broker that runs elsewhere.</source>
   <translation>Das Fenster mit einem Broker, der anderswo läuft.</translation>
  </message>
  <message>
   <source>The window shows the latest poll again, and the timeline shows what happened in the meantime.</source>
   <translation>Das Fenster zeigt wieder die neueste Abfrage, und die Zeitleiste zeigt, was inzwischen geschah.</translation>
  </message>
  <message>
   <source>The word next to its icon.</source>
   <translation>Das Wort neben dem Symbol.</translation>
  </message>
  <message>
   <source>Theme</source>
   <translation>Farbschema</translation>
  </message>
  <message>
   <source>Theme, text size, language, recording.</source>
   <translation>Farbschema, Schriftgröße, Sprache, Aufzeichnung.</translation>
  </message>
  <message>
   <source>There are five members for two partitions, and the new one works at once. Nobody had to give anything up for it.</source>
   <translation>Es gibt fünf Mitglieder für zwei Partitionen, und das neue arbeitet sofort. Niemand musste dafür etwas abgeben.</translation>
  </message>
  <message>
   <source>There are no ACLs, quotas or users.</source>
   <translation>Es gibt keine ACLs, Quotas oder Benutzer.</translation>
  </message>
  <message>
   <source>There are no dead letters.</source>
   <translation>Es gibt keine Dead Letters.</translation>
  </message>
  <message>
   <source>There are no messages below that offset.</source>
   <translation>Unter diesem Offset gibt es keine Nachrichten.</translation>
  </message>
  <message>
   <source>There are no messages here.</source>
   <translation>Hier sind keine Nachrichten.</translation>
  </message>
  <message>
   <source>There is already a topic or queue of this name</source>
   <translation>Es gibt schon ein Topic oder eine Queue dieses Namens</translation>
  </message>
  <message>
   <source>There is no alert.</source>
   <translation>Es gibt keinen Alarm.</translation>
  </message>
  <message>
   <source>There is no connection to the broker</source>
   <translation>Es gibt keine Verbindung zum Broker</translation>
  </message>
  <message>
   <source>There is no earlier one.</source>
   <translation>Es gibt kein früheres.</translation>
  </message>
  <message>
   <source>There is no field {name} here; did you mean {other}?</source>
   <translation>Hier gibt es kein Feld {name}; meinten Sie {other}?</translation>
  </message>
  <message>
   <source>There is no field {name} here; there are {names}.</source>
   <translation>Hier gibt es kein Feld {name}; es gibt {names}.</translation>
  </message>
  <message>
   <source>There is no group.</source>
   <translation>Es gibt keine Gruppe.</translation>
  </message>
  <message>
   <source>There is no group; create one first.</source>
   <translation>Es gibt keine Gruppe; erst eine anlegen.</translation>
  </message>
  <message>
   <source>There is no later one.</source>
   <translation>Es gibt kein späteres.</translation>
  </message>
  <message>
   <source>There is no log yet.</source>
   <translation>Es gibt noch kein Log.</translation>
  </message>
  <message>
   <source>There is no other place to go.</source>
   <translation>Es gibt kein anderes Ziel.</translation>
  </message>
  <message>
   <source>There is no other recorded run of this scenario yet.</source>
   <translation>Es gibt noch keinen anderen aufgezeichneten Lauf dieses Szenarios.</translation>
  </message>
  <message>
   <source>There is no other recorded run of this scenario yet. Start it again (Ctrl+R), then compare.</source>
   <translation>Es gibt noch keinen anderen aufgezeichneten Lauf dieses Szenarios. Neu starten (Strg+R), dann vergleichen.</translation>
  </message>
  <message>
   <source>There is no producer; add one first.</source>
   <translation>Es gibt keinen Producer; erst einen hinzufügen.</translation>
  </message>
  <message>
   <source>There is no queue; create one first.</source>
   <translation>Es gibt keine Queue; erst eine anlegen.</translation>
  </message>
  <message>
   <source>There is no running session to open a listener on.</source>
   <translation>Es läuft keine Sitzung, für die ein Listener geöffnet werden könnte.</translation>
  </message>
  <message>
   <source>There is no such consumer</source>
   <translation>Es gibt keinen solchen Consumer</translation>
  </message>
  <message>
   <source>There is no such dead letter</source>
   <translation>Es gibt keine solche Dead Letter</translation>
  </message>
  <message>
   <source>There is no such fault</source>
   <translation>Es gibt keine solche Störung</translation>
  </message>
  <message>
   <source>There is no such fetch session; fetch without one</source>
   <translation>Es gibt keine solche Fetch-Session; lesen Sie ohne eine</translation>
  </message>
  <message>
   <source>There is no such group</source>
   <translation>Es gibt keine solche Gruppe</translation>
  </message>
  <message>
   <source>There is no such queue</source>
   <translation>Es gibt keine solche Queue</translation>
  </message>
  <message>
   <source>There is no such schema</source>
   <translation>Es gibt kein solches Schema</translation>
  </message>
  <message>
   <source>There is no such share session; open another</source>
   <translation>Es gibt keine solche Share-Session; öffnen Sie eine neue</translation>
  </message>
  <message>
   <source>There is no such subject</source>
   <translation>Es gibt kein solches Subject</translation>
  </message>
  <message>
   <source>There is no such topic or partition</source>
   <translation>Es gibt kein solches Topic oder keine solche Partition</translation>
  </message>
  <message>
   <source>There is no such transactional id</source>
   <translation>Es gibt keine solche Transactional ID</translation>
  </message>
  <message>
   <source>There is no such user, ACL or quota</source>
   <translation>Es gibt keinen solchen Benutzer, keine solche ACL oder Quota</translation>
  </message>
  <message>
   <source>There is no topic or queue to limit; create one first.</source>
   <translation>Es gibt kein Topic und keine Queue zu begrenzen; erst eines anlegen.</translation>
  </message>
  <message>
   <source>There is no topic or queue to send to.</source>
   <translation>Es gibt kein Topic und keine Queue als Ziel.</translation>
  </message>
  <message>
   <source>There is no topic or queue to send to; create one first.</source>
   <translation>Es gibt kein Topic und keine Queue als Ziel; erst eines anlegen.</translation>
  </message>
  <message>
   <source>There is no topic to subscribe to; create one first.</source>
   <translation>Es gibt kein Topic, für das man sich anmelden könnte; erst eines anlegen.</translation>
  </message>
  <message>
   <source>There is no topic; create one first.</source>
   <translation>Es gibt kein Topic; erst eines anlegen.</translation>
  </message>
  <message>
   <source>There is no value (a tombstone).</source>
   <translation>Es gibt keinen Wert (ein Tombstone).</translation>
  </message>
  <message>
   <source>There is no value.</source>
   <translation>Es gibt keinen Wert.</translation>
  </message>
  <message>
   <source>There is nothing before this bracket; write a condition or remove the bracket.</source>
   <translation>Vor dieser Klammer steht nichts; eine Bedingung schreiben oder die Klammer entfernen.</translation>
  </message>
  <message>
   <source>There is nothing to chart.</source>
   <translation>Es gibt nichts darzustellen.</translation>
  </message>
  <message>
   <source>There is nothing to continue from; start it again (Ctrl+R).</source>
   <translation>Es gibt nichts, wovon aus es weitergehen könnte; neu starten (Strg+R).</translation>
  </message>
  <message>
   <source>There is nothing to reset.</source>
   <translation>Es gibt nichts zurückzusetzen.</translation>
  </message>
  <message>
   <source>There is nowhere to go to.</source>
   <translation>Es gibt kein Ziel.</translation>
  </message>
  <message>
   <source>There is only one broker here: this one.</source>
   <translation>Hier gibt es nur einen Broker: diesen.</translation>
  </message>
  <message>
   <source>These brackets take one name, as in {example}.</source>
   <translation>In diese Klammern gehört ein Name, etwa {example}.</translation>
  </message>
  <message>
   <source>They are no longer in flight.</source>
   <translation>Sie sind nicht mehr in Arbeit.</translation>
  </message>
  <message>
   <source>They cannot be restored. {why}</source>
   <translation>Sie lassen sich nicht wieder herstellen. {why}</translation>
  </message>
  <message>
   <source>This bracket is not closed; end it with )</source>
   <translation>Diese Klammer ist nicht geschlossen; mit ) beenden</translation>
  </message>
  <message>
   <source>This bracket was never opened; remove it.</source>
   <translation>Diese Klammer wurde nie geöffnet; sie entfernen.</translation>
  </message>
  <message>
   <source>This branch was stopped before it reached {at}; it is live from there.</source>
   <translation>Dieser Zweig wurde gestoppt, bevor er {at} erreichte; ab dort ist er live.</translation>
  </message>
  <message>
   <source>This broker is empty: create a topic or a queue (menu Broker), or open another scenario.</source>
   <translation>Dieser Broker ist leer: ein Topic oder eine Queue anlegen (Menü Broker) oder ein anderes Szenario öffnen.</translation>
  </message>
  <message>
   <source>This broker runs elsewhere and does not report this to observers.</source>
   <translation>Dieser Broker läuft anderswo und teilt das Beobachtern nicht mit.</translation>
  </message>
  <message>
   <source>This can no longer be done: the session has ended.</source>
   <translation>Das ist nicht mehr möglich: Die Sitzung ist zu Ende.</translation>
  </message>
  <message>
   <source>This can no longer be done: {name} is not there any more.</source>
   <translation>Das ist nicht mehr möglich: {name} gibt es nicht mehr.</translation>
  </message>
  <message>
   <source>This chart alone</source>
   <translation>Nur dieses Diagramm</translation>
  </message>
  <message>
   <source>This command is not available.</source>
   <translation>Dieser Befehl ist nicht verfügbar.</translation>
  </message>
  <message>
   <source>This is a branch: live from {at}, {origin}.</source>
   <translation>Dies ist ein Zweig: live ab {at}, {origin}.</translation>
  </message>
  <message>
   <source>This is a file, not a folder; choose a folder.</source>
   <translation>Das ist eine Datei, kein Ordner; einen Ordner wählen.</translation>
  </message>
  <message>
   <source>This is a recorded session: choose another moment on the timeline.</source>
   <translation>Dies ist eine aufgezeichnete Sitzung: Wählen Sie auf der Zeitleiste einen anderen Moment.</translation>
  </message>
  <message>
   <source>This is a recorded session: it has no present. Branch here (Ctrl+B) to continue from it.</source>
   <translation>Dies ist eine aufgezeichnete Sitzung: Sie hat keine Gegenwart. Hier abzweigen (Strg+B), um von ihr aus weiterzumachen.</translation>
  </message>
  <message>
   <source>This is how the session ended.</source>
   <translation>So endete die Sitzung.</translation>
  </message>
  <message>
   <source>This is neither a time, such as 00:42 or 42.5, nor the name of a bookmark.</source>
   <translation>Das ist weder eine Zeit wie 00:42 oder 42.5 noch der Name eines Lesezeichens.</translation>
  </message>
  <message>
   <source>This is not JSON.</source>
   <translation>Das ist kein JSON.</translation>
  </message>
  <message>
   <source>This is not a regular expression that RE2 can read.</source>
   <translation>Das ist kein regulärer Ausdruck, den RE2 lesen kann.</translation>
  </message>
  <message>
   <source>This is not a session folder</source>
   <translation>Das ist kein Ordner einer Sitzung</translation>
  </message>
  <message>
   <source>This is not possible</source>
   <translation>Das ist nicht möglich</translation>
  </message>
  <message>
   <source>This is possible only in a session that runs in this window; this one observes a broker elsewhere.</source>
   <translation>Das geht nur in einer Sitzung, die in diesem Fenster läuft; diese beobachtet einen Broker anderswo.</translation>
  </message>
  <message>
   <source>This is the last lesson.</source>
   <translation>Das ist die letzte Lektion.</translation>
  </message>
  <message>
   <source>This is the past: follow live (Alt+Right), or branch here, to change anything.</source>
   <translation>Das ist die Vergangenheit: live folgen (Alt+Rechts) oder hier abzweigen, um etwas zu ändern.</translation>
  </message>
  <message>
   <source>This is the past; the session continues in the background. Alt+Right follows it again.</source>
   <translation>Das ist die Vergangenheit; die Sitzung geht dahinter weiter. Alt+Rechts folgt ihr wieder.</translation>
  </message>
  <message>
   <source>This is the past; the session is paused. Alt+Right goes back to the present.</source>
   <translation>Das ist die Vergangenheit; die Sitzung steht still. Alt+Rechts kehrt in die Gegenwart zurück.</translation>
  </message>
  <message>
   <source>This is the present: F4 steps to the next event.</source>
   <translation>Das ist die Gegenwart: F4 geht zum nächsten Ereignis.</translation>
  </message>
  <message>
   <source>This member no longer holds the message</source>
   <translation>Dieses Mitglied hat die Nachricht nicht mehr</translation>
  </message>
  <message>
   <source>This message cannot be read: {why}</source>
   <translation>Diese Nachricht lässt sich nicht lesen: {why}</translation>
  </message>
  <message>
   <source>This moment cannot be shown: {error}</source>
   <translation>Dieser Zeitpunkt lässt sich nicht zeigen: {error}</translation>
  </message>
  <message>
   <source>This page could not be drawn: {error}.</source>
   <translation>Diese Seite konnte nicht gezeichnet werden: {error}.</translation>
  </message>
  <message>
   <source>This page needs JavaScript. All of it is contained in the page; nothing is loaded.</source>
   <translation>Diese Seite braucht JavaScript. Es ist vollständig in der Seite enthalten; nichts wird nachgeladen.</translation>
  </message>
  <message>
   <source>This panel has no filter.</source>
   <translation>Dieses Panel hat keinen Filter.</translation>
  </message>
  <message>
   <source>This quote is not closed; end it with {quote}</source>
   <translation>Dieses Anführungszeichen ist nicht geschlossen; mit {quote} beenden</translation>
  </message>
  <message>
   <source>This recording is incomplete.</source>
   <translation>Diese Aufzeichnung ist nicht vollständig.</translation>
  </message>
  <message>
   <source>This report was made without tables; open it to read it.</source>
   <translation>Dieser Bericht wurde ohne Tabellen gemacht; zum Lesen öffnen.</translation>
  </message>
  <message>
   <source>This scenario can run.</source>
   <translation>Dieses Szenario ist lauffähig.</translation>
  </message>
  <message>
   <source>This scenario has no lesson.</source>
   <translation>Dieses Szenario hat keine Lektion.</translation>
  </message>
  <message>
   <source>This session began in the middle: what was published before is not known.</source>
   <translation>Diese Sitzung hat mittendrin begonnen: Was vorher veröffentlicht wurde, ist nicht bekannt.</translation>
  </message>
  <message>
   <source>This session has no such event.</source>
   <translation>Diese Sitzung hat kein solches Ereignis.</translation>
  </message>
  <message>
   <source>This session is not recorded, and its first events are no longer in memory.</source>
   <translation>Diese Sitzung wird nicht aufgezeichnet, und ihre ersten Ereignisse sind nicht mehr im Speicher.</translation>
  </message>
  <message>
   <source>This session is not recorded.</source>
   <translation>Diese Sitzung wird nicht aufgezeichnet.</translation>
  </message>
  <message>
   <source>This session is not recorded: only some of its moments can be shown.</source>
   <translation>Diese Sitzung wird nicht aufgezeichnet: Nur einige ihrer Zeitpunkte lassen sich zeigen.</translation>
  </message>
  <message>
   <source>This session is not recorded: the nearest available moment is shown.</source>
   <translation>Diese Sitzung wird nicht aufgezeichnet: zu sehen ist der nächste festgehaltene Zeitpunkt.</translation>
  </message>
  <message>
   <source>This session observes a broker elsewhere: it can be replayed, but not rerun.</source>
   <translation>Diese Sitzung beobachtet einen Broker anderswo: Sie lässt sich wiedergeben, aber nicht noch einmal ausführen.</translation>
  </message>
  <message>
   <source>Those that do not match</source>
   <translation>Solche, die nicht passen</translation>
  </message>
  <message>
   <source>Thousands of dead letters have one cause. What comes first, a redrive or a repair?</source>
   <translation>Tausende Dead Letters haben eine Ursache. Was kommt zuerst: Redrive oder Reparatur?</translation>
  </message>
  <message>
   <source>Three groups assign the same eight partitions by three different rules.</source>
   <translation>Drei Gruppen verteilen dieselben acht Partitionen nach drei verschiedenen Regeln.</translation>
  </message>
  <message>
   <source>Three groups read the same payments, and each group's reader dies now and then in the middle of its work. One commits before it works: messages that were committed but not processed are lost. One commits afterwards: messages that were processed but not committed are processed again. There is no third order, so the third reader stores its offset together with its effects, in one transaction.</source>
   <translation>Drei Gruppen lesen dieselben Zahlungen, und der Leser jeder Gruppe stirbt ab und zu mitten in der Arbeit. Einer committet vor der Arbeit: Nachrichten, die committet, aber nicht verarbeitet wurden, sind verloren. Einer committet danach: Nachrichten, die verarbeitet, aber nicht committet wurden, werden noch einmal verarbeitet. Eine dritte Reihenfolge gibt es nicht, also speichert der dritte seinen Offset zusammen mit seinen Wirkungen in einer Transaktion.</translation>
  </message>
  <message>
   <source>Three groups read the same payments.</source>
   <translation>Drei Gruppen lesen dieselben Zahlungen.</translation>
  </message>
  <message>
   <source>Three groups read the same two topics with three members each, and each group assigns the partitions by a different rule. Range goes topic by topic, so the first member gets the larger share of each. Sticky balances over all topics and moves as little as possible. Cooperative sticky also lets members keep reading the partitions that do not move.</source>
   <translation>Drei Gruppen mit je drei Mitgliedern lesen dieselben zwei Topics, und jede Gruppe verteilt die Partitionen nach einer anderen Regel. Range geht Topic für Topic vor, also bekommt das erste Mitglied jeweils den größeren Teil. Sticky gleicht über alle Topics aus und bewegt so wenig wie möglich. Cooperative sticky lässt Mitglieder außerdem die Partitionen weiterlesen, die nicht wandern.</translation>
  </message>
  <message>
   <source>Three indexers share the six partitions of commits. A partition has one owner in a group; its letter says which. The orange part of a partition is its lag: messages that the group has not committed yet.</source>
   <translation>Drei Indexer teilen sich die sechs Partitionen von commits. Eine Partition hat in einer Gruppe einen Besitzer; ihr Buchstabe sagt, wen. Der orange Teil einer Partition ist ihr Rückstand: was die Gruppe noch nicht committet hat.</translation>
  </message>
  <message>
   <source>Three queues with the same messages and the same two workers: one paints a message in a tenth of a second, the other takes four times as long, and each may prefetch 20 messages. The queues differ in which worker gets the next message: in turn, by weight (4 to 1), or whichever has least to do.</source>
   <translation>Drei Queues mit denselben Nachrichten und denselben zwei Workern: Der eine malt eine Nachricht in einer Zehntelsekunde, der andere braucht viermal so lange, und jeder darf 20 Nachrichten vorausladen. Die Queues unterscheiden sich darin, welcher Worker die nächste Nachricht bekommt: reihum, nach Gewicht (4 zu 1) oder wer am wenigsten zu tun hat.</translation>
  </message>
  <message>
   <source>Throughput</source>
   <translation>Durchsatz</translation>
  </message>
  <message>
   <source>Throughput and events appear here once the session is running.</source>
   <translation>Durchsatz und Ereignisse erscheinen hier, sobald die Sitzung läuft.</translation>
  </message>
  <message>
   <source>Time</source>
   <translation>Zeit</translation>
  </message>
  <message>
   <source>Time (session)</source>
   <translation>Zeit (Sitzung)</translation>
  </message>
  <message>
   <source>Time for each message</source>
   <translation>Zeit für jede Nachricht</translation>
  </message>
  <message>
   <source>Time from the redrive until then.</source>
   <translation>Zeit vom Redrive bis dahin.</translation>
  </message>
  <message>
   <source>Time in rebalances</source>
   <translation>Zeit in Rebalances</translation>
  </message>
  <message>
   <source>Time left (s)</source>
   <translation>Restzeit (s)</translation>
  </message>
  <message>
   <source>Time of messages</source>
   <translation>Zeit der Nachrichten</translation>
  </message>
  <message>
   <source>Time since it died.</source>
   <translation>Zeit, seit er starb.</translation>
  </message>
  <message>
   <source>Time since the client last sent something, including waiting for messages.</source>
   <translation>Zeit, seit der Client zuletzt etwas gesendet hat, einschließlich des Wartens auf Nachrichten.</translation>
  </message>
  <message>
   <source>Time until the lag is gone, at the pace of the last five seconds; n/a if the lag is not known.</source>
   <translation>Zeit, bis der Rückstand abgebaut ist, beim Tempo der letzten fünf Sekunden; n/a, wenn der Rückstand nicht bekannt ist.</translation>
  </message>
  <message>
   <source>Timeline</source>
   <translation>Zeitleiste</translation>
  </message>
  <message>
   <source>Times</source>
   <translation>Mal</translation>
  </message>
  <message>
   <source>Times, limits, where a share group begins.</source>
   <translation>Zeiten, Grenzen, wo eine Share-Gruppe beginnt.</translation>
  </message>
  <message>
   <source>To</source>
   <translation>An</translation>
  </message>
  <message>
   <source>To do</source>
   <translation>Zu tun</translation>
  </message>
  <message>
   <source>To session time</source>
   <translation>Bis Sitzungszeit</translation>
  </message>
  <message>
   <source>To switch, all members leave and rejoin together; sticky assignors then start without previous owners.</source>
   <translation>Zum Wechseln verlassen alle Mitglieder die Gruppe und treten gemeinsam neu bei; Sticky-Assignors beginnen dann ohne bisherige Besitzer.</translation>
  </message>
  <message>
   <source>To the beginning</source>
   <translation>Zum Anfang</translation>
  </message>
  <message>
   <source>To the end</source>
   <translation>Zum Ende</translation>
  </message>
  <message>
   <source>Token</source>
   <translation>Token</translation>
  </message>
  <message>
   <source>Tombstones</source>
   <translation>Tombstones</translation>
  </message>
  <message>
   <source>Toolbar</source>
   <translation>Werkzeugleiste</translation>
  </message>
  <message>
   <source>Topic</source>
   <translation>Topic</translation>
  </message>
  <message>
   <source>Topic created</source>
   <translation>Topic angelegt</translation>
  </message>
  <message>
   <source>Topic deleted</source>
   <translation>Topic gelöscht</translation>
  </message>
  <message>
   <source>Topic or queue</source>
   <translation>Topic oder Queue</translation>
  </message>
  <message>
   <source>Topic or queue, partition and offset that the message came from.</source>
   <translation>Topic oder Queue, Partition und Offset, woher die Nachricht kam.</translation>
  </message>
  <message>
   <source>Topic {name}</source>
   <translation>Topic {name}</translation>
  </message>
  <message>
   <source>Topics</source>
   <translation>Topics</translation>
  </message>
  <message>
   <source>Topics that use it.</source>
   <translation>Topics, die es benutzen.</translation>
  </message>
  <message>
   <source>Topics with names such as orders.DLT, orders-dlq and dlq.orders contain dead letters; to mark another one, use Dead letters &gt; Dead-letter topic.</source>
   <translation>Topics mit Namen wie orders.DLT, orders-dlq und dlq.orders enthalten Dead Letters; andere kennzeichnen Sie mit Dead Letters &gt; Dead-Letter-Topic.</translation>
  </message>
  <message>
   <source>Totals and reconciliation</source>
   <translation>Summen und Abgleich</translation>
  </message>
  <message>
   <source>Traffic</source>
   <translation>Verkehr</translation>
  </message>
  <message>
   <source>Transaction</source>
   <translation>Transaktion</translation>
  </message>
  <message>
   <source>Transaction ended</source>
   <translation>Transaktion beendet</translation>
  </message>
  <message>
   <source>Transaction started</source>
   <translation>Transaktion begonnen</translation>
  </message>
  <message>
   <source>Transactions</source>
   <translation>Transaktionen</translation>
  </message>
  <message>
   <source>Transactions are open, and their messages are in the log already.</source>
   <translation>Transaktionen sind offen, und ihre Nachrichten stehen schon im Log.</translation>
  </message>
  <message>
   <source>Trend</source>
   <translation>Trend</translation>
  </message>
  <message>
   <source>Trims the beginning of a log.</source>
   <translation>Schneidet den Anfang eines Logs ab.</translation>
  </message>
  <message>
   <source>Try</source>
   <translation>Probieren</translation>
  </message>
  <message>
   <source>Try this first: {what}</source>
   <translation>Zuerst probieren: {what}</translation>
  </message>
  <message>
   <source>Turned away or discarded</source>
   <translation>Abgewiesen oder verworfen</translation>
  </message>
  <message>
   <source>Turned on again.</source>
   <translation>Wieder eingeschaltet.</translation>
  </message>
  <message>
   <source>Two copies, for a run was killed: {places}.</source>
   <translation>Zwei Kopien, weil ein Lauf abgebrochen wurde: {places}.</translation>
  </message>
  <message>
   <source>Two groups go through the same deployment: one consumer after the other is killed and comes back five seconds later. In dynamic, members come back as strangers: the group admits a new member, waits for the old one, which never returns, and reassigns everything. In static, members have a permanent name (group.instance.id) and find their partitions as they left them.</source>
   <translation>Zwei Gruppen machen dasselbe Deployment durch: Ein Consumer nach dem anderen wird beendet und kommt fünf Sekunden später zurück. In dynamic kommen Mitglieder als Fremde zurück: Die Gruppe nimmt ein neues Mitglied auf, wartet auf das alte, das nie wiederkommt, und verteilt alles neu. In static haben Mitglieder einen festen Namen (group.instance.id) und finden ihre Partitionen so vor, wie sie sie verlassen haben.</translation>
  </message>
  <message>
   <source>Two groups of three read the same six partitions. In the classic protocol, one of the members is the leader and assigns the partitions, and before each rebalance all members give up theirs. In the consumer protocol (KIP-848), the broker assigns, and tells each member in the reply to its heartbeat what to give up and what to take. The same things happen to both groups: at second 17 one member becomes slow, at second 20 a fourth joins, at second 40 one crashes, and at second 50 it is back.</source>
   <translation>Zwei Gruppen zu dritt lesen dieselben sechs Partitionen. Im klassischen Protokoll ist eines der Mitglieder der Leader und verteilt die Partitionen, und vor jedem Rebalance geben alle Mitglieder ihre ab. Im Consumer-Protokoll (KIP-848) verteilt der Broker und sagt jedem Mitglied in der Antwort auf seinen Heartbeat, was es abgeben und was es nehmen soll. Beiden Gruppen geschieht dasselbe: In Sekunde 17 wird ein Mitglied langsam, in Sekunde 20 kommt ein viertes dazu, in Sekunde 40 stürzt eines ab, und in Sekunde 50 ist es wieder da.</translation>
  </message>
  <message>
   <source>Two packers share the four partitions of orders.</source>
   <translation>Zwei Packer teilen sich die vier Partitionen von orders.</translation>
  </message>
  <message>
   <source>Two painters are not enough, and the queue grows. No message is lost; each waits for a free painter.</source>
   <translation>Zwei Painter reichen nicht, und die Queue wächst. Keine Nachricht geht verloren; jede wartet auf einen freien Painter.</translation>
  </message>
  <message>
   <source>Two producers want to send ten messages a second to a queue whose worker does four. Stubborn carries on regardless, and is refused more often than not. Adaptive doubles its interval after each refusal and shortens it by a tenth after each success: it finds the worker's pace without being told.</source>
   <translation>Zwei Producer wollen zehn Nachrichten pro Sekunde an eine Queue senden, deren Worker vier schafft. Stubborn macht einfach weiter und wird öfter abgelehnt als angenommen. Adaptive verdoppelt sein Intervall nach jeder Ablehnung und verkürzt es nach jedem Erfolg um ein Zehntel: Er findet das Tempo des Workers, ohne dass man es ihm sagt.</translation>
  </message>
  <message>
   <source>Two shops publish the same orders at the same rate. Prompt sends each order at once; patient lingers: it waits a quarter of a second for more and sends them together, one batch per partition. A batch costs the network, the disk and the broker about as much as a single message, so lingering trades latency for throughput.</source>
   <translation>Zwei Läden veröffentlichen dieselben Bestellungen mit derselben Rate. Prompt sendet jede Bestellung sofort; patient verweilt: Er wartet eine Viertelsekunde auf mehr und sendet sie zusammen, einen Batch je Partition. Ein Batch kostet Netz, Platte und Broker etwa so viel wie eine einzelne Nachricht, also tauscht Linger Latenz gegen Durchsatz.</translation>
  </message>
  <message>
   <source>Two wards have the same patients and one doctor each: of every ten patients, two are emergencies (priority 0), seven are urgent (1), and one can wait (2). There is slightly more work than a doctor can do. In strict, the most urgent patient is always next, so those who can wait, wait forever. In ageing, a patient moves up one level for every 15 seconds of waiting.</source>
   <translation>Zwei Stationen haben dieselben Patienten und je einen Arzt: Von zehn Patienten sind zwei Notfälle (Priorität 0), sieben dringend (1), und einer kann warten (2). Es ist etwas mehr Arbeit da, als ein Arzt schafft. In strict ist immer der dringendste Patient der nächste, also warten die, die warten können, für immer. In ageing steigt ein Patient für je 15 Sekunden Warten eine Stufe auf.</translation>
  </message>
  <message>
   <source>Type the name of the cluster: {name}</source>
   <translation>Den Namen des Clusters eingeben: {name}</translation>
  </message>
  <message>
   <source>Under-replicated</source>
   <translation>Zu wenige synchron</translation>
  </message>
  <message>
   <source>Undo</source>
   <translation>Rückgängig</translation>
  </message>
  <message>
   <source>Undo: {what}</source>
   <translation>Rückgängig: {what}</translation>
  </message>
  <message>
   <source>Undo: {what} (Ctrl+Z)</source>
   <translation>Rückgängig: {what} (Strg+Z)</translation>
  </message>
  <message>
   <source>Undoes the last action.</source>
   <translation>Macht die letzte Aktion rückgängig.</translation>
  </message>
  <message>
   <source>Unfinished messages of the queue, or of the topic's slowest reader.</source>
   <translation>Unerledigte Nachrichten der Queue oder des langsamsten Lesers des Topics.</translation>
  </message>
  <message>
   <source>Unfold the lesson</source>
   <translation>Lektion ausklappen</translation>
  </message>
  <message>
   <source>Unlock</source>
   <translation>Entsperren</translation>
  </message>
  <message>
   <source>Unlock for 15 minutes...</source>
   <translation>Für 15 Minuten entsperren...</translation>
  </message>
  <message>
   <source>Unmodified Kafka clients can connect.</source>
   <translation>Kafka-Clients können sich unverändert verbinden.</translation>
  </message>
  <message>
   <source>Unread</source>
   <translation>Ungelesen</translation>
  </message>
  <message>
   <source>Unsubscribe</source>
   <translation>Abmelden</translation>
  </message>
  <message>
   <source>Unsubscribe group</source>
   <translation>Gruppe von Topic abmelden</translation>
  </message>
  <message>
   <source>Unsubscribe group...</source>
   <translation>Gruppe von Topic abmelden...</translation>
  </message>
  <message>
   <source>Until it is committed; a group has no leases.</source>
   <translation>Bis sie committet ist; eine Gruppe hat keine Leases.</translation>
  </message>
  <message>
   <source>Until the lease expires and the message is delivered again.</source>
   <translation>Bis die Lease abläuft und die Nachricht wieder zugestellt wird.</translation>
  </message>
  <message>
   <source>Until the next one</source>
   <translation>Bis zum nächsten</translation>
  </message>
  <message>
   <source>Up to</source>
   <translation>Bis</translation>
  </message>
  <message>
   <source>Use Tab and the arrow keys to move from box to box: a dashed ring marks the current one, a solid frame the selected one.</source>
   <translation>Mit Tab und den Pfeiltasten von Kasten zu Kasten gehen: Ein gestrichelter Ring markiert den aktuellen, ein durchgezogener Rahmen den ausgewählten.</translation>
  </message>
  <message>
   <source>Used by</source>
   <translation>Benutzt von</translation>
  </message>
  <message>
   <source>User</source>
   <translation>Benutzer</translation>
  </message>
  <message>
   <source>User actions</source>
   <translation>Benutzeraktionen</translation>
  </message>
  <message>
   <source>Value</source>
   <translation>Wert</translation>
  </message>
  <message>
   <source>Values follow</source>
   <translation>Werte folgen</translation>
  </message>
  <message>
   <source>Values nested more than {levels} levels deep are not shown.</source>
   <translation>Werte, die mehr als {levels} Ebenen tief verschachtelt sind, werden nicht gezeigt.</translation>
  </message>
  <message>
   <source>Verdict</source>
   <translation>Urteil</translation>
  </message>
  <message>
   <source>Version</source>
   <translation>Version</translation>
  </message>
  <message>
   <source>Version and licences.</source>
   <translation>Version und Lizenzen.</translation>
  </message>
  <message>
   <source>Versions, changes and rejected messages.</source>
   <translation>Versionen, Änderungen und abgewiesene Nachrichten.</translation>
  </message>
  <message>
   <source>View</source>
   <translation>Ansicht</translation>
  </message>
  <message>
   <source>Wait at most</source>
   <translation>Höchstens wartend</translation>
  </message>
  <message>
   <source>Waiting</source>
   <translation>Wartend</translation>
  </message>
  <message>
   <source>Waiting at the end</source>
   <translation>Am Ende wartend</translation>
  </message>
  <message>
   <source>Wall time</source>
   <translation>Wanduhrzeit</translation>
  </message>
  <message>
   <source>Was anything lost?</source>
   <translation>Ging etwas verloren?</translation>
  </message>
  <message>
   <source>Watch</source>
   <translation>Beachten</translation>
  </message>
  <message>
   <source>What</source>
   <translation>Was</translation>
  </message>
  <message>
   <source>What a principal may do, or may not.</source>
   <translation>Was ein Principal darf oder nicht darf.</translation>
  </message>
  <message>
   <source>What does a share group give up for that?</source>
   <translation>Was gibt eine Share-Gruppe dafür auf?</translation>
  </message>
  <message>
   <source>What each setting of a topic or group does.</source>
   <translation>Was jede Einstellung eines Topics oder einer Gruppe bewirkt.</translation>
  </message>
  <message>
   <source>What happens</source>
   <translation>Was geschieht</translation>
  </message>
  <message>
   <source>What happens at the broker appears here as soon as it is seen.</source>
   <translation>Was auf dem Broker geschieht, erscheint hier, sobald es zu sehen ist.</translation>
  </message>
  <message>
   <source>What happens when a lease is shorter than the work takes?</source>
   <translation>Was geschieht, wenn eine Lease kürzer ist, als die Arbeit dauert?</translation>
  </message>
  <message>
   <source>What is free of the volumes of its logs.</source>
   <translation>Was auf den Datenträgern seiner Logs frei ist.</translation>
  </message>
  <message>
   <source>What makes an alert worth waking somebody for?</source>
   <translation>Welcher Alarm ist es wert, jemanden dafür zu wecken?</translation>
  </message>
  <message>
   <source>What slows producers down.</source>
   <translation>Was Producer bremst.</translation>
  </message>
  <message>
   <source>What the canvas shows, and how to use it.</source>
   <translation>Was die Zeichenfläche zeigt und wie man sie benutzt.</translation>
  </message>
  <message>
   <source>What the condition is about: the state of a group, queue, topic or share group, or an event (published, fault...).</source>
   <translation>Worauf sich die Bedingung bezieht: auf den Zustand einer Gruppe, einer Queue, eines Topics oder einer Share-Gruppe oder auf ein Ereignis (published, fault...).</translation>
  </message>
  <message>
   <source>What the drawing means</source>
   <translation>Was die Zeichnung bedeutet</translation>
  </message>
  <message>
   <source>What the redrive did to each message</source>
   <translation>Was der Redrive mit jeder Nachricht tat</translation>
  </message>
  <message>
   <source>What they can do here, and which faults you can give them.</source>
   <translation>Was sie hier können und welche Störungen Sie ihnen zufügen können.</translation>
  </message>
  <message>
   <source>What to do: {advice}</source>
   <translation>Was zu tun ist: {advice}</translation>
  </message>
  <message>
   <source>What to end</source>
   <translation>Was endet</translation>
  </message>
  <message>
   <source>What to try</source>
   <translation>Was zu probieren ist</translation>
  </message>
  <message>
   <source>What to watch</source>
   <translation>Worauf zu achten ist</translation>
  </message>
  <message>
   <source>What was redriven</source>
   <translation>Was zurückgeschickt wurde</translation>
  </message>
  <message>
   <source>What will change</source>
   <translation>Was sich ändern wird</translation>
  </message>
  <message>
   <source>What would each assignor do with {group} now?</source>
   <translation>Was würde jeder Assignor jetzt mit {group} tun?</translation>
  </message>
  <message>
   <source>What you can write here</source>
   <translation>Was Sie hier schreiben können</translation>
  </message>
  <message>
   <source>When 40 mails wait, the notifier is blocked until the mailer has caught up.</source>
   <translation>Wenn 40 Mails warten, ist der notifier blockiert, bis der mailer aufgeholt hat.</translation>
  </message>
  <message>
   <source>When full</source>
   <translation>Wenn voll</translation>
  </message>
  <message>
   <source>When is range the right choice?</source>
   <translation>Wann ist Range die richtige Wahl?</translation>
  </message>
  <message>
   <source>When it is full</source>
   <translation>Wenn sie voll ist</translation>
  </message>
  <message>
   <source>When it is reached</source>
   <translation>Wenn sie erreicht ist</translation>
  </message>
  <message>
   <source>When the owner got this partition; rebalances that left it there do not count. Wall time on hover.</source>
   <translation>Wann der Eigentümer diese Partition bekommen hat; Rebalances, nach denen er sie noch hat, zählen nicht. Uhrzeit im Tooltip.</translation>
  </message>
  <message>
   <source>When topics are joined. Range gives the partitions with the same number in all topics to the same member, so a consumer can join topics that have the same keys and the same number of partitions on its own.</source>
   <translation>Bei Joins. Range gibt Partitionen mit derselben Nummer in allen Topics demselben Mitglied; so kann ein Consumer allein Topics verknüpfen, die dieselben Schlüssel und gleich viele Partitionen haben.</translation>
  </message>
  <message>
   <source>Where</source>
   <translation>Wo</translation>
  </message>
  <message>
   <source>Where a consumer continues reading.</source>
   <translation>Wo ein Consumer weiterliest.</translation>
  </message>
  <message>
   <source>Where a group reads from.</source>
   <translation>Wo eine Gruppe weiterliest.</translation>
  </message>
  <message>
   <source>Where the new group starts</source>
   <translation>Wo die neue Gruppe beginnt</translation>
  </message>
  <message>
   <source>Where the redrive appended it.</source>
   <translation>Wo der Redrive sie angehängt hat.</translation>
  </message>
  <message>
   <source>Whether new sessions are recorded.</source>
   <translation>Ob neue Sitzungen aufgezeichnet werden.</translation>
  </message>
  <message>
   <source>Whether the index file covers the segment; if not, opening the segment scans the file.</source>
   <translation>Ob die Indexdatei das Segment abdeckt; wenn nicht, wird beim Öffnen die ganze Datei gelesen.</translation>
  </message>
  <message>
   <source>Which events</source>
   <translation>Welche Ereignisse</translation>
  </message>
  <message>
   <source>Which member owns each partition, by group.</source>
   <translation>Welches Mitglied welche Partition besitzt, je Gruppe.</translation>
  </message>
  <message>
   <source>Which policy loses nothing, and what does it cost?</source>
   <translation>Welche Regel verliert nichts, und was kostet sie?</translation>
  </message>
  <message>
   <source>Who</source>
   <translation>Wer</translation>
  </message>
  <message>
   <source>Who logs in</source>
   <translation>Wer sich anmeldet</translation>
  </message>
  <message>
   <source>Who waits for whom in a rebalance?</source>
   <translation>Wer wartet bei einem Rebalance auf wen?</translation>
  </message>
  <message>
   <source>Whoever connects to {listens} has the rights of {rights} at the cluster.</source>
   <translation>Wer sich mit {listens} verbindet, hat am Cluster die Rechte von {rights}.</translation>
  </message>
  <message>
   <source>Why</source>
   <translation>Warum</translation>
  </message>
  <message>
   <source>Why does a smaller max_poll_messages lose less and repeat less?</source>
   <translation>Warum verliert und wiederholt ein kleineres max_poll_messages weniger?</translation>
  </message>
  <message>
   <source>Why does the card of a rebalance say "at least one"?</source>
   <translation>Warum sagt die Karte eines Rebalance "at least one"?</translation>
  </message>
  <message>
   <source>Why its reader had it no more when it was delivered again.</source>
   <translation>Warum ihr Leser sie nicht mehr hatte, als sie noch einmal zugestellt wurde.</translation>
  </message>
  <message>
   <source>With a dry run and a rate.</source>
   <translation>Mit Probelauf und Rate.</translation>
  </message>
  <message>
   <source>With addresses of hosts</source>
   <translation>Mit Hostadressen</translation>
  </message>
  <message>
   <source>With its messages; can be undone.</source>
   <translation>Mit ihren Nachrichten; lässt sich rückgängig machen.</translation>
  </message>
  <message>
   <source>With key</source>
   <translation>Mit Schlüssel</translation>
  </message>
  <message>
   <source>With the actions of this session in it.</source>
   <translation>Mit den Aktionen dieser Sitzung.</translation>
  </message>
  <message>
   <source>With the cooperative rule, members keep reading the partitions they keep. The time on the card is only for the partitions that moved.</source>
   <translation>Mit der kooperativen Regel lesen Mitglieder die Partitionen weiter, die sie behalten. Die Zeit auf der Karte gilt nur für die Partitionen, die den Besitzer gewechselt haben.</translation>
  </message>
  <message>
   <source>With the keys of dead letters</source>
   <translation>Mit den Schlüsseln der Dead Letters</translation>
  </message>
  <message>
   <source>With three painters the queue grows; when painter-2 is back, it shrinks.</source>
   <translation>Mit drei Malern wächst die Queue; ist painter-2 zurück, schrumpft sie.</translation>
  </message>
  <message>
   <source>Withdrawn</source>
   <translation>Zurückgenommen</translation>
  </message>
  <message>
   <source>Without a limit it would come back forever and waste an indexer's time each time.</source>
   <translation>Ohne Grenze käme sie immer wieder und würde jedes Mal die Zeit eines Indexers verschwenden.</translation>
  </message>
  <message>
   <source>Without a topic to go to: {count}.</source>
   <translation>Ohne Topic, in das sie könnten: {count}.</translation>
  </message>
  <message>
   <source>Words, or conditions such as lag &gt; 100, kind = group.</source>
   <translation>Wörter oder Bedingungen wie lag &gt; 100, kind = group.</translation>
  </message>
  <message>
   <source>Words, or conditions such as lag &gt; 100. Down opens the help, Escape clears.</source>
   <translation>Wörter oder Bedingungen wie lag &gt; 100. Pfeil nach unten öffnet die Hilfe, Esc leert.</translation>
  </message>
  <message>
   <source>Work queue</source>
   <translation>Work Queue</translation>
  </message>
  <message>
   <source>Worker</source>
   <translation>Worker</translation>
  </message>
  <message>
   <source>Workers</source>
   <translation>Worker</translation>
  </message>
  <message>
   <source>Workers belong to their queue; consumers of groups can be moved.</source>
   <translation>Worker gehören zu ihrer Queue; Consumer von Gruppen lassen sich verschieben.</translation>
  </message>
  <message>
   <source>Workers of {queue}, {members}</source>
   <translation>Worker von {queue}, {members}</translation>
  </message>
  <message>
   <source>Write a filter first.</source>
   <translation>Erst einen Filter schreiben.</translation>
  </message>
  <message>
   <source>Write it like 00:31.5 or 1,000.</source>
   <translation>Schreiben Sie es wie 00:31.5 oder 1,000.</translation>
  </message>
  <message>
   <source>Writing {name}</source>
   <translation>{name} wird geschrieben</translation>
  </message>
  <message>
   <source>Written to {message}</source>
   <translation>Geschrieben nach {message}</translation>
  </message>
  <message>
   <source>Written to {page}; the recording is incomplete: {problem}</source>
   <translation>Geschrieben nach {page}; die Aufzeichnung ist nicht vollständig: {problem}</translation>
  </message>
  <message>
   <source>Written to {page}; {problem}</source>
   <translation>Geschrieben nach {page}; {problem}</translation>
  </message>
  <message>
   <source>Written to {page}; {words}</source>
   <translation>Geschrieben nach {page}; {words}</translation>
  </message>
  <message>
   <source>Written to {path}, {size}.</source>
   <translation>Geschrieben nach {path}, {size}.</translation>
  </message>
  <message>
   <source>You can step (F4), run (F5) and run fast (F6). Ctrl+P finds every command.</source>
   <translation>Sie können schrittweise (F4), normal (F5) und schnell (F6) laufen lassen. Strg+P findet jeden Befehl.</translation>
  </message>
  <message>
   <source>Your own cluster</source>
   <translation>Ihr eigener Cluster</translation>
  </message>
  <message>
   <source>Zoom in</source>
   <translation>Vergrößern</translation>
  </message>
  <message>
   <source>Zoom out</source>
   <translation>Verkleinern</translation>
  </message>
  <message>
   <source>a filter, such as header contains timeout</source>
   <translation>ein Filter, etwa header contains timeout</translation>
  </message>
  <message>
   <source>a length of time</source>
   <translation>eine Dauer</translation>
  </message>
  <message>
   <source>a number</source>
   <translation>eine Zahl</translation>
  </message>
  <message>
   <source>a number of bytes</source>
   <translation>eine Zahl von Bytes</translation>
  </message>
  <message>
   <source>a or (b and not c)</source>
   <translation>a or (b and not c)</translation>
  </message>
  <message>
   <source>a redrive appends it as shown here</source>
   <translation>ein Redrive hängt ihn so an, wie er hier steht</translation>
  </message>
  <message>
   <source>a session time</source>
   <translation>eine Sitzungszeit</translation>
  </message>
  <message>
   <source>aborted</source>
   <translation>abgebrochen</translation>
  </message>
  <message>
   <source>about {time}; for how long nobody read is not known from outside</source>
   <translation>etwa {time}; wie lange niemand las, ist von außen nicht bekannt</translation>
  </message>
  <message>
   <source>acknowledged it</source>
   <translation>hat sie bestätigt</translation>
  </message>
  <message>
   <source>acknowledged {place}</source>
   <translation>{place} bestätigt</translation>
  </message>
  <message>
   <source>added consumer {client} to the bench</source>
   <translation>Consumer {client} auf die Bank gesetzt</translation>
  </message>
  <message>
   <source>added consumer {client} to {group}</source>
   <translation>Consumer {client} zu {group} hinzugefügt</translation>
  </message>
  <message>
   <source>added producer {client} to {topic}</source>
   <translation>Producer {client} für {topic} hinzugefügt</translation>
  </message>
  <message>
   <source>added worker {client} to {queue}</source>
   <translation>Worker {client} zu {queue} hinzugefügt</translation>
  </message>
  <message>
   <source>address</source>
   <translation>Adresse</translation>
  </message>
  <message>
   <source>addresses of hosts</source>
   <translation>Hostadressen</translation>
  </message>
  <message>
   <source>administer</source>
   <translation>verwalten</translation>
  </message>
  <message>
   <source>after</source>
   <translation>danach</translation>
  </message>
  <message>
   <source>after the work: at least once</source>
   <translation>nach der Arbeit: mindestens einmal</translation>
  </message>
  <message>
   <source>after {limits}</source>
   <translation>nach {limits}</translation>
  </message>
  <message>
   <source>age after which messages are deleted</source>
   <translation>Alter, ab dem Nachrichten gelöscht werden</translation>
  </message>
  <message>
   <source>age after which messages are not delivered</source>
   <translation>Alter, ab dem Nachrichten nicht mehr zugestellt werden</translation>
  </message>
  <message>
   <source>age and size: delete old segments</source>
   <translation>Alter und Größe: alte Segmente löschen</translation>
  </message>
  <message>
   <source>age at which a segment file is closed</source>
   <translation>Alter, bei dem eine Segmentdatei geschlossen wird</translation>
  </message>
  <message>
   <source>age at which messages are compacted in any case</source>
   <translation>Alter, in dem Nachrichten auf jeden Fall kompaktiert werden</translation>
  </message>
  <message>
   <source>age below which compaction leaves messages alone</source>
   <translation>Alter, bis zu dem die Kompaktierung Nachrichten unberührt lässt</translation>
  </message>
  <message>
   <source>age, size and key: both</source>
   <translation>Alter, Größe und Schlüssel: beides</translation>
  </message>
  <message>
   <source>all</source>
   <translation>alle</translation>
  </message>
  <message>
   <source>all at once</source>
   <translation>alle auf einmal</translation>
  </message>
  <message>
   <source>all dead letters of {queue}</source>
   <translation>alle Dead Letters von {queue}</translation>
  </message>
  <message>
   <source>all dead letters of {queue} that died of {what}</source>
   <translation>alle Dead Letters von {queue} mit der Ursache {what}</translation>
  </message>
  <message>
   <source>all of them</source>
   <translation>alle</translation>
  </message>
  <message>
   <source>all of them, up to their ends</source>
   <translation>alle, bis zu ihren Enden</translation>
  </message>
  <message>
   <source>also those that came back after a redrive</source>
   <translation>auch die, die nach einem Zurückführen wiederkamen</translation>
  </message>
  <message>
   <source>always the same</source>
   <translation>immer derselbe</translation>
  </message>
  <message>
   <source>an offset</source>
   <translation>ein Offset</translation>
  </message>
  <message>
   <source>and at most</source>
   <translation>und höchstens</translation>
  </message>
  <message>
   <source>and {count:,} more</source>
   <translation>und {count:,} weitere</translation>
  </message>
  <message>
   <source>and {count} more</source>
   <translation>und {count} weitere</translation>
  </message>
  <message>
   <source>and, or, not, brackets; and may be left out.</source>
   <translation>and, or, not, Klammern; and darf fehlen.</translation>
  </message>
  <message>
   <source>another program; see its requests in the panels Connections and Requests</source>
   <translation>ein anderes Programm; seine Requests stehen in den Panels Verbindungen und Requests</translation>
  </message>
  <message>
   <source>answered with an error</source>
   <translation>mit einem Fehler beantwortet</translation>
  </message>
  <message>
   <source>any</source>
   <translation>beliebig</translation>
  </message>
  <message>
   <source>any client.id; * for any characters</source>
   <translation>beliebige client.id; * für beliebige Zeichen</translation>
  </message>
  <message>
   <source>any key</source>
   <translation>beliebiger Schlüssel</translation>
  </message>
  <message>
   <source>any port</source>
   <translation>beliebiger Port</translation>
  </message>
  <message>
   <source>any rate</source>
   <translation>beliebige Rate</translation>
  </message>
  <message>
   <source>any text</source>
   <translation>beliebiger Text</translation>
  </message>
  <message>
   <source>are refused</source>
   <translation>werden abgelehnt</translation>
  </message>
  <message>
   <source>as fast as possible</source>
   <translation>so schnell wie möglich</translation>
  </message>
  <message>
   <source>as in the scenario</source>
   <translation>wie im Szenario</translation>
  </message>
  <message>
   <source>as long as it takes</source>
   <translation>so lange wie nötig</translation>
  </message>
  <message>
   <source>as the producer sends them</source>
   <translation>wie der Producer sie sendet</translation>
  </message>
  <message>
   <source>assignor</source>
   <translation>Assignor</translation>
  </message>
  <message>
   <source>at an unknown time</source>
   <translation>zu unbekannter Zeit</translation>
  </message>
  <message>
   <source>at least 16 characters; the programs' password (SASL PLAIN)</source>
   <translation>mindestens 16 Zeichen; das Passwort der Programme (SASL PLAIN)</translation>
  </message>
  <message>
   <source>at most {count:,}</source>
   <translation>höchstens {count:,}</translation>
  </message>
  <message>
   <source>at most {count}</source>
   <translation>höchstens {count}</translation>
  </message>
  <message>
   <source>at most {messages}</source>
   <translation>höchstens {messages}</translation>
  </message>
  <message>
   <source>at {count} bytes/s: {requests}</source>
   <translation>mit {count} Bytes/s: {requests}</translation>
  </message>
  <message>
   <source>at {offset:,}</source>
   <translation>bei {offset:,}</translation>
  </message>
  <message>
   <source>attempt {attempt}, {time} left</source>
   <translation>Versuch {attempt}, {time} übrig</translation>
  </message>
  <message>
   <source>attempt {number}</source>
   <translation>Versuch {number}</translation>
  </message>
  <message>
   <source>authenticates by {way}</source>
   <translation>meldet sich mit {way} an</translation>
  </message>
  <message>
   <source>because: {cause}</source>
   <translation>weil: {cause}</translation>
  </message>
  <message>
   <source>become dead letters</source>
   <translation>werden Dead Letters</translation>
  </message>
  <message>
   <source>before</source>
   <translation>davor</translation>
  </message>
  <message>
   <source>before the work: at most once</source>
   <translation>vor der Arbeit: höchstens einmal</translation>
  </message>
  <message>
   <source>began</source>
   <translation>begonnen</translation>
  </message>
  <message>
   <source>beginning</source>
   <translation>Anfang</translation>
  </message>
  <message>
   <source>being recorded</source>
   <translation>wird aufgezeichnet</translation>
  </message>
  <message>
   <source>better</source>
   <translation>besser</translation>
  </message>
  <message>
   <source>beyond {size}</source>
   <translation>über {size} hinaus</translation>
  </message>
  <message>
   <source>block</source>
   <translation>blockieren</translation>
  </message>
  <message>
   <source>block: producers wait for room</source>
   <translation>blockieren: Producer warten auf Platz</translation>
  </message>
  <message>
   <source>blocks producers</source>
   <translation>blockiert Producer</translation>
  </message>
  <message>
   <source>booked has the isolation level read_committed. It reads up to the last stable offset, which is where the first open transaction of a partition begins, and waits there.</source>
   <translation>booked hat das Isolation Level read_committed. Es liest bis zum Last Stable Offset, wo die erste offene Transaktion einer Partition beginnt, und wartet dort.</translation>
  </message>
  <message>
   <source>booker commits before it works, poster afterwards, and clearer stores its offset and its effects in one database transaction.</source>
   <translation>booker committet vor der Arbeit, poster danach, und clearer speichert Offset und Ergebnisse in einer Datenbanktransaktion.</translation>
  </message>
  <message>
   <source>booker commits first. After a crash it continues after the messages it was holding; no message comes twice.</source>
   <translation>booker committet zuerst. Nach einem Absturz macht er hinter den Nachrichten weiter, die er hielt; keine Nachricht kommt zweimal.</translation>
  </message>
  <message>
   <source>booker continues after the messages it was holding, so they are lost. poster reads them again, so some are done twice. clearer also reads them again, but finds in its database which ones it has already done.</source>
   <translation>booker macht hinter den Nachrichten weiter, die er hielt; sie sind verloren. poster liest sie noch einmal; einige werden also doppelt erledigt. Auch clearer liest sie noch einmal, sieht aber in seiner Datenbank, welche schon erledigt sind.</translation>
  </message>
  <message>
   <source>bootstrap.servers={listens} leads to {where} from now on.</source>
   <translation>bootstrap.servers={listens} führt ab jetzt zu {where}.</translation>
  </message>
  <message>
   <source>branched from {name}</source>
   <translation>abgezweigt von {name}</translation>
  </message>
  <message>
   <source>broke requests: {rule}</source>
   <translation>Requests gestört: {rule}</translation>
  </message>
  <message>
   <source>broker</source>
   <translation>Broker</translation>
  </message>
  <message>
   <source>brought group {group} back</source>
   <translation>Gruppe {group} zurückgeholt</translation>
  </message>
  <message>
   <source>brought {client} back</source>
   <translation>{client} zurückgeholt</translation>
  </message>
  <message>
   <source>browse them</source>
   <translation>ansehen</translation>
  </message>
  <message>
   <source>by</source>
   <translation>durch</translation>
  </message>
  <message>
   <source>by priority</source>
   <translation>nach Priorität</translation>
  </message>
  <message>
   <source>by {client}</source>
   <translation>von {client}</translation>
  </message>
  <message>
   <source>by {client} of {group}</source>
   <translation>von {client} aus {group}</translation>
  </message>
  <message>
   <source>by {count}</source>
   <translation>um {count}</translation>
  </message>
  <message>
   <source>bytes of a segment file between two entries of its index</source>
   <translation>Bytes einer Segmentdatei zwischen zwei Einträgen ihres Index</translation>
  </message>
  <message>
   <source>caught up</source>
   <translation>aufgeholt</translation>
  </message>
  <message>
   <source>changes</source>
   <translation>Änderungen</translation>
  </message>
  <message>
   <source>cleanup</source>
   <translation>Bereinigung</translation>
  </message>
  <message>
   <source>clearer also reads some messages again, but finds in its own database that it has already dealt with them. Its count is exact.</source>
   <translation>Auch clearer liest manche Nachrichten noch einmal, findet aber in seiner eigenen Datenbank, dass er sie schon bearbeitet hat. Seine Zahl stimmt genau.</translation>
  </message>
  <message>
   <source>clerk-2 keeps fewer partitions, so it has less to do. It slowly catches up on what has piled up.</source>
   <translation>clerk-2 behält weniger Partitionen, hat also weniger zu tun. Was sich angestaut hat, arbeitet er langsam ab.</translation>
  </message>
  <message>
   <source>client id {name}</source>
   <translation>Client-ID {name}</translation>
  </message>
  <message>
   <source>client id; * is every one that has no quota by name</source>
   <translation>Client-ID; * ist jede, für die keine Quota mit ihrem Namen gilt</translation>
  </message>
  <message>
   <source>client.properties</source>
   <translation>client.properties</translation>
  </message>
  <message>
   <source>closed</source>
   <translation>geschlossen</translation>
  </message>
  <message>
   <source>committed</source>
   <translation>committet</translation>
  </message>
  <message>
   <source>committed and never delivered: {count:,}</source>
   <translation>committet und nie zugestellt: {count:,}</translation>
  </message>
  <message>
   <source>compaction: the latest of each key</source>
   <translation>Kompaktierung: der letzte Wert je Schlüssel</translation>
  </message>
  <message>
   <source>condition</source>
   <translation>Bedingung</translation>
  </message>
  <message>
   <source>configured {topic}</source>
   <translation>{topic} konfiguriert</translation>
  </message>
  <message>
   <source>confirm acknowledgements only when a crash can no longer undo them</source>
   <translation>Bestätigungen erst quittieren, wenn ein Absturz sie nicht mehr zunichtemachen kann</translation>
  </message>
  <message>
   <source>connection closed, not served</source>
   <translation>Verbindung geschlossen, nicht bedient</translation>
  </message>
  <message>
   <source>connection dropped: {requests}</source>
   <translation>Verbindung getrennt: {requests}</translation>
  </message>
  <message>
   <source>coordinator change told: {requests}</source>
   <translation>Wechsel des Koordinators gemeldet: {requests}</translation>
  </message>
  <message>
   <source>corrupt partitions: {count:,}</source>
   <translation>beschädigte Partitionen: {count:,}</translation>
  </message>
  <message>
   <source>could not be done: {what}</source>
   <translation>war nicht möglich: {what}</translation>
  </message>
  <message>
   <source>crash</source>
   <translation>Absturz</translation>
  </message>
  <message>
   <source>crashed {client}</source>
   <translation>{client} abstürzen lassen</translation>
  </message>
  <message>
   <source>crashed {client} for {time} s</source>
   <translation>{client} für {time} s abstürzen lassen</translation>
  </message>
  <message>
   <source>created group {group}</source>
   <translation>Gruppe {group} angelegt</translation>
  </message>
  <message>
   <source>created queue {queue}</source>
   <translation>Queue {queue} angelegt</translation>
  </message>
  <message>
   <source>created subscription {queue} to {topic}</source>
   <translation>Subscription {queue} auf {topic} angelegt</translation>
  </message>
  <message>
   <source>created the ACL: {what}</source>
   <translation>ACL angelegt: {what}</translation>
  </message>
  <message>
   <source>created topic {topic} with {partitions}</source>
   <translation>Topic {topic} mit {partitions} angelegt</translation>
  </message>
  <message>
   <source>dashboard.views fills up while orders come in bursts, and empties afterwards.</source>
   <translation>dashboard.views füllt sich, solange Bestellungen in Schüben kommen, und leert sich danach.</translation>
  </message>
  <message>
   <source>dead letters</source>
   <translation>Dead Letters</translation>
  </message>
  <message>
   <source>dead letters have key, value and headers of the message</source>
   <translation>Dead Letters haben Key, Value und Header der Nachricht</translation>
  </message>
  <message>
   <source>dead-lettered {place}</source>
   <translation>{place} zum Dead Letter gemacht</translation>
  </message>
  <message>
   <source>delay after a failed delivery</source>
   <translation>Wartezeit nach einer gescheiterten Zustellung</translation>
  </message>
  <message>
   <source>delay before the second delivery</source>
   <translation>Wartezeit vor der zweiten Zustellung</translation>
  </message>
  <message>
   <source>delay of {time} ms, give or take {count} ms: {requests}</source>
   <translation>Verzögerung von {time} ms, mehr oder weniger um {count} ms: {requests}</translation>
  </message>
  <message>
   <source>delay of {time} ms: {requests}</source>
   <translation>Verzögerung von {time} ms: {requests}</translation>
  </message>
  <message>
   <source>delete old segments, or compact: keep the latest value of each key; both, or none</source>
   <translation>alte Segmente löschen, oder verdichten: den letzten Wert jedes Schlüssels behalten; beides, oder keins</translation>
  </message>
  <message>
   <source>deleted from the log before it was acknowledged</source>
   <translation>aus dem Log gelöscht, bevor sie bestätigt war</translation>
  </message>
  <message>
   <source>deleted group {group}</source>
   <translation>Gruppe {group} gelöscht</translation>
  </message>
  <message>
   <source>deleted queue {queue}</source>
   <translation>Queue {queue} gelöscht</translation>
  </message>
  <message>
   <source>deleted records of {topic} in {partitions}</source>
   <translation>Datensätze von {topic} in {partitions} gelöscht</translation>
  </message>
  <message>
   <source>deleted the ACL: {what}</source>
   <translation>ACL gelöscht: {what}</translation>
  </message>
  <message>
   <source>deleted topic {topic}</source>
   <translation>Topic {topic} gelöscht</translation>
  </message>
  <message>
   <source>deleted user {user}</source>
   <translation>Benutzer {user} gelöscht</translation>
  </message>
  <message>
   <source>deleting segments {limits}</source>
   <translation>Segmente löschen {limits}</translation>
  </message>
  <message>
   <source>delivered out of the order of their key: {count:,}</source>
   <translation>nicht in der Reihenfolge ihres Schlüssels zugestellt: {count:,}</translation>
  </message>
  <message>
   <source>delivered to its owner, who has not acknowledged it</source>
   <translation>ihrem Besitzer zugestellt, der sie nicht bestätigt hat</translation>
  </message>
  <message>
   <source>delivered twice: {count:,}</source>
   <translation>doppelt zugestellt: {count:,}</translation>
  </message>
  <message>
   <source>delivered, and acknowledged or committed</source>
   <translation>zugestellt und bestätigt oder committet</translation>
  </message>
  <message>
   <source>delivered, not committed</source>
   <translation>zugestellt, nicht committet</translation>
  </message>
  <message>
   <source>deliveries before a message becomes a dead letter</source>
   <translation>Zustellungen, bevor eine Nachricht ein Dead Letter wird</translation>
  </message>
  <message>
   <source>deliveries before a message becomes a dead letter (none: never)</source>
   <translation>Zustellungen, bevor eine Nachricht ein Dead Letter wird (keine: nie)</translation>
  </message>
  <message>
   <source>deny it, even if another rule allows it</source>
   <translation>verbieten, was immer sonst es erlaubt</translation>
  </message>
  <message>
   <source>different</source>
   <translation>verschieden</translation>
  </message>
  <message>
   <source>discarded to make room before it was acknowledged</source>
   <translation>verworfen, um Platz zu schaffen, bevor sie bestätigt war</translation>
  </message>
  <message>
   <source>disk full</source>
   <translation>Festplatte voll</translation>
  </message>
  <message>
   <source>do anything</source>
   <translation>alles tun</translation>
  </message>
  <message>
   <source>drop newest</source>
   <translation>neueste verwerfen</translation>
  </message>
  <message>
   <source>drop oldest</source>
   <translation>älteste verwerfen</translation>
  </message>
  <message>
   <source>drop the newest: the new message is lost</source>
   <translation>die neueste verwerfen: die neue Nachricht ist verloren</translation>
  </message>
  <message>
   <source>drop the oldest: those that wait longest make room</source>
   <translation>die älteste verwerfen: am längsten wartende machen Platz</translation>
  </message>
  <message>
   <source>dropped the heartbeats of {client}</source>
   <translation>Heartbeats von {client} verworfen</translation>
  </message>
  <message>
   <source>dropped the heartbeats of {client} for {time} s</source>
   <translation>Heartbeats von {client} für {time} s verworfen</translation>
  </message>
  <message>
   <source>drops the newest</source>
   <translation>verwirft die neuesten</translation>
  </message>
  <message>
   <source>drops the oldest</source>
   <translation>verwirft die ältesten</translation>
  </message>
  <message>
   <source>duplicated {client}</source>
   <translation>{client} dupliziert</translation>
  </message>
  <message>
   <source>duplicated {client} as {name}</source>
   <translation>{client} als {name} dupliziert</translation>
  </message>
  <message>
   <source>each program as itself</source>
   <translation>jedes Programm selbst</translation>
  </message>
  <message>
   <source>edited dead letter {offset} of {queue}</source>
   <translation>Dead Letter {offset} von {queue} geändert</translation>
  </message>
  <message>
   <source>empty</source>
   <translation>leer</translation>
  </message>
  <message>
   <source>en</source>
   <translation>de</translation>
  </message>
  <message>
   <source>end</source>
   <translation>Ende</translation>
  </message>
  <message>
   <source>end of the scenario</source>
   <translation>Ende des Szenarios</translation>
  </message>
  <message>
   <source>ended</source>
   <translation>beendet</translation>
  </message>
  <message>
   <source>ended the fault {name}</source>
   <translation>Störung {name} beendet</translation>
  </message>
  <message>
   <source>ended the faults of the disk</source>
   <translation>Störungen der Platte beendet</translation>
  </message>
  <message>
   <source>ended the faults of {client}</source>
   <translation>Störungen von {client} beendet</translation>
  </message>
  <message>
   <source>ended the rule {name}</source>
   <translation>Regel {name} beendet</translation>
  </message>
  <message>
   <source>ended {time}</source>
   <translation>beendet um {time}</translation>
  </message>
  <message>
   <source>epoch</source>
   <translation>Epoche</translation>
  </message>
  <message>
   <source>equal</source>
   <translation>gleich</translation>
  </message>
  <message>
   <source>every message</source>
   <translation>jede Nachricht</translation>
  </message>
  <message>
   <source>every other client id</source>
   <translation>jede andere Client-ID</translation>
  </message>
  <message>
   <source>every other user</source>
   <translation>jeder andere Benutzer</translation>
  </message>
  <message>
   <source>every request</source>
   <translation>jeder Request</translation>
  </message>
  <message>
   <source>every {count}nd message</source>
   <translation>jede {count}. Nachricht</translation>
  </message>
  <message>
   <source>every {count}rd message</source>
   <translation>jede {count}. Nachricht</translation>
  </message>
  <message>
   <source>every {count}st message</source>
   <translation>jede {count}. Nachricht</translation>
  </message>
  <message>
   <source>every {count}th message</source>
   <translation>jede {count}. Nachricht</translation>
  </message>
  <message>
   <source>everyone</source>
   <translation>alle</translation>
  </message>
  <message>
   <source>everything is acknowledged or dead-lettered</source>
   <translation>alles ist bestätigt oder ein Dead Letter</translation>
  </message>
  <message>
   <source>everything that it reads</source>
   <translation>alles, was sie liest</translation>
  </message>
  <message>
   <source>evict by priority: less urgent ones make room</source>
   <translation>nach Priorität verdrängen: weniger dringende machen Platz</translation>
  </message>
  <message>
   <source>evicts by priority</source>
   <translation>verdrängt nach Priorität</translation>
  </message>
  <message>
   <source>exponential: often short, now and then long</source>
   <translation>exponentiell: oft kurz, ab und zu lang</translation>
  </message>
  <message>
   <source>extended the lease of {place} by a whole lease</source>
   <translation>Lease von {place} um eine ganze Lease verlängert</translation>
  </message>
  <message>
   <source>extended the lease of {place} to {time} s from now</source>
   <translation>Lease von {place} auf {time} s ab jetzt verlängert</translation>
  </message>
  <message>
   <source>factor by which exponential delays grow</source>
   <translation>Faktor, um den exponentielle Wartezeiten wachsen</translation>
  </message>
  <message>
   <source>failed by a rule</source>
   <translation>per Regel gescheitert</translation>
  </message>
  <message>
   <source>failing</source>
   <translation>scheitert</translation>
  </message>
  <message>
   <source>fault</source>
   <translation>Störung</translation>
  </message>
  <message>
   <source>fault {name} is over after one request</source>
   <translation>Störung {name} endet nach einer Anfrage</translation>
  </message>
  <message>
   <source>fault {name} is over after {count} requests</source>
   <translation>Störung {name} endet nach {count} Anfragen</translation>
  </message>
  <message>
   <source>filled the disk</source>
   <translation>Platte gefüllt</translation>
  </message>
  <message>
   <source>filled the disk for {time} s</source>
   <translation>Platte für {time} s gefüllt</translation>
  </message>
  <message>
   <source>finished</source>
   <translation>zu Ende</translation>
  </message>
  <message>
   <source>first state after {clock}</source>
   <translation>erster Stand nach {clock}</translation>
  </message>
  <message>
   <source>for</source>
   <translation>für</translation>
  </message>
  <message>
   <source>for {time}</source>
   <translation>für {time}</translation>
  </message>
  <message>
   <source>forgotten</source>
   <translation>vergessen</translation>
  </message>
  <message>
   <source>forwards or backwards by a number of messages</source>
   <translation>um eine Anzahl Nachrichten vor oder zurück</translation>
  </message>
  <message>
   <source>from</source>
   <translation>von</translation>
  </message>
  <message>
   <source>from the start</source>
   <translation>von Anfang an</translation>
  </message>
  <message>
   <source>gave it back as not done</source>
   <translation>hat sie unerledigt zurückgegeben</translation>
  </message>
  <message>
   <source>gave it back untouched</source>
   <translation>hat sie unberührt zurückgegeben</translation>
  </message>
  <message>
   <source>gave {topic} {partitions}</source>
   <translation>{topic} hat jetzt {partitions}</translation>
  </message>
  <message>
   <source>generation {generation:,}</source>
   <translation>Generation {generation:,}</translation>
  </message>
  <message>
   <source>generation {number}</source>
   <translation>Generation {number}</translation>
  </message>
  <message>
   <source>go to others</source>
   <translation>gehen an andere</translation>
  </message>
  <message>
   <source>greatest lag in messages</source>
   <translation>größter Rückstand in Nachrichten</translation>
  </message>
  <message>
   <source>group</source>
   <translation>Gruppe</translation>
  </message>
  <message>
   <source>group members count as alive and stay</source>
   <translation>Gruppenmitglieder gelten als lebendig und bleiben</translation>
  </message>
  <message>
   <source>group {name}</source>
   <translation>Gruppe {name}</translation>
  </message>
  <message>
   <source>has it, too: each was told to read the partition</source>
   <translation>hat sie auch: Beide sollen die Partition lesen</translation>
  </message>
  <message>
   <source>heartbeats dropped</source>
   <translation>Heartbeats verworfen</translation>
  </message>
  <message>
   <source>held by {holder} until {time}, attempt {attempt}</source>
   <translation>gehalten von {holder} bis {time}, Versuch {attempt}</translation>
  </message>
  <message>
   <source>held from</source>
   <translation>ferngehalten von</translation>
  </message>
  <message>
   <source>held until the fault ends</source>
   <translation>gehalten, bis der Fehler endet</translation>
  </message>
  <message>
   <source>held: {requests}</source>
   <translation>angehalten: {requests}</translation>
  </message>
  <message>
   <source>help/en</source>
   <translation>help/de</translation>
  </message>
  <message>
   <source>host:9092 of a Kafka cluster</source>
   <translation>host:9092 eines Kafka-Clusters</translation>
  </message>
  <message>
   <source>how far in the future a Kafka client's timestamp may be (CreateTime)</source>
   <translation>wie weit der Zeitstempel eines Kafka-Clients in der Zukunft liegen darf (CreateTime)</translation>
  </message>
  <message>
   <source>how keys choose partitions</source>
   <translation>wie Schlüssel ihre Partition bestimmen</translation>
  </message>
  <message>
   <source>how long a consumer holds a message without acknowledging it</source>
   <translation>wie lange ein Consumer eine Nachricht hält, ohne sie zu bestätigen</translation>
  </message>
  <message>
   <source>how long a consumer may be silent (KIP-848)</source>
   <translation>wie lange ein Consumer schweigen darf (KIP-848)</translation>
  </message>
  <message>
   <source>how long a producer waits under the policy block</source>
   <translation>wie lange ein Producer bei der Richtlinie block wartet</translation>
  </message>
  <message>
   <source>how long a share consumer holds a message</source>
   <translation>wie lange ein Share-Consumer eine Nachricht hält</translation>
  </message>
  <message>
   <source>how long a share consumer may be silent</source>
   <translation>wie lange ein Share-Consumer schweigen darf</translation>
  </message>
  <message>
   <source>how long compaction keeps the deletion of a key</source>
   <translation>wie lange die Kompaktierung die Löschung eines Schlüssels behält</translation>
  </message>
  <message>
   <source>how often consumers send a heartbeat (KIP-848)</source>
   <translation>wie oft Consumer einen Heartbeat senden (KIP-848)</translation>
  </message>
  <message>
   <source>how often share consumers send a heartbeat</source>
   <translation>wie oft Share-Consumer einen Heartbeat senden</translation>
  </message>
  <message>
   <source>how often the password is hashed</source>
   <translation>wie oft das Passwort gehasht wird</translation>
  </message>
  <message>
   <source>how old a Kafka client's timestamp may be (CreateTime)</source>
   <translation>wie alt der Zeitstempel eines Kafka-Clients sein darf (CreateTime)</translation>
  </message>
  <message>
   <source>how stored batches are compressed (producer: as received)</source>
   <translation>wie gespeicherte Batches komprimiert werden (producer: wie empfangen)</translation>
  </message>
  <message>
   <source>how the password is checked</source>
   <translation>wie das Passwort geprüft wird</translation>
  </message>
  <message>
   <source>how to connect to a cluster, with user name and password; empty for none</source>
   <translation>wie man sich mit einem Cluster verbindet, mit Benutzername und Passwort; leer für keine</translation>
  </message>
  <message>
   <source>http://host:8080, or host:9092 of a Kafka cluster</source>
   <translation>http://host:8080, oder host:9092 eines Kafka-Clusters</translation>
  </message>
  <message>
   <source>if it needs one; it is not stored</source>
   <translation>falls er eines verlangt; es wird nicht gespeichert</translation>
  </message>
  <message>
   <source>in a batch of {count}</source>
   <translation>in einem Batch von {count}</translation>
  </message>
  <message>
   <source>in files, synced before it is acknowledged: survives a power cut</source>
   <translation>in Dateien, synchronisiert vor der Bestätigung: übersteht einen Stromausfall</translation>
  </message>
  <message>
   <source>in files: survives a crash of the program</source>
   <translation>in Dateien: übersteht das Programm</translation>
  </message>
  <message>
   <source>in memory: lost when the program ends; nothing is on disk</source>
   <translation>im Speicher: endet mit dem Programm, und nichts ist auf der Platte</translation>
  </message>
  <message>
   <source>indexer-2 crashes. Who reads its partitions, and when do they start?</source>
   <translation>indexer-2 stürzt ab. Wer liest seine Partitionen, und ab wann?</translation>
  </message>
  <message>
   <source>instance id</source>
   <translation>Instanz-ID</translation>
  </message>
  <message>
   <source>it fails: returned to the queue, or skipped</source>
   <translation>sie scheitert: zurück in die Queue oder übersprungen</translation>
  </message>
  <message>
   <source>it had failed with: {cause}</source>
   <translation>er war gescheitert an: {cause}</translation>
  </message>
  <message>
   <source>it waits for tokens</source>
   <translation>er wartet auf Tokens</translation>
  </message>
  <message>
   <source>it was there before its reader, which began behind it</source>
   <translation>sie war vor ihrem Leser da, der hinter ihr begann</translation>
  </message>
  <message>
   <source>its reader committed beyond it, and was never given it</source>
   <translation>ihr Leser hat hinter ihr committet und sie nie bekommen</translation>
  </message>
  <message>
   <source>its reader crashes and comes back</source>
   <translation>ihr Leser stürzt ab und kommt zurück</translation>
  </message>
  <message>
   <source>its reader forgets it</source>
   <translation>ihr Leser vergisst sie</translation>
  </message>
  <message>
   <source>its reader hangs on it</source>
   <translation>ihr Leser bleibt an ihr hängen</translation>
  </message>
  <message>
   <source>its time to live was over before it was acknowledged</source>
   <translation>ihre Lebenszeit war vorbei, bevor sie bestätigt war</translation>
  </message>
  <message>
   <source>kept for {time}</source>
   <translation>behalten für {time}</translation>
  </message>
  <message>
   <source>kept with it; without, that of the latest version</source>
   <translation>werden mit ihm aufbewahrt; ohne Angabe die der neuesten Version</translation>
  </message>
  <message>
   <source>key {key}</source>
   <translation>Schlüssel {key}</translation>
  </message>
  <message>
   <source>key: keep the last message of each</source>
   <translation>Schlüssel: die letzte Nachricht je Schlüssel behalten</translation>
  </message>
  <message>
   <source>keys not read</source>
   <translation>Schlüssel nicht gelesen</translation>
  </message>
  <message>
   <source>keys of messages</source>
   <translation>Schlüssel von Nachrichten</translation>
  </message>
  <message>
   <source>kind</source>
   <translation>Art</translation>
  </message>
  <message>
   <source>kind = dead_lettered and cause contains timeout; lag &gt; 100 and group = "billing"; time &gt;= 00:31</source>
   <translation>kind = dead_lettered and cause contains timeout; lag &gt; 100 and group = "billing"; time &gt;= 00:31</translation>
  </message>
  <message>
   <source>kind of resource</source>
   <translation>Art der Ressource</translation>
  </message>
  <message>
   <source>lag n/a</source>
   <translation>Rückstand n/a</translation>
  </message>
  <message>
   <source>lag {count}</source>
   <translation>Rückstand {count}</translation>
  </message>
  <message>
   <source>lag {lag}</source>
   <translation>Rückstand {lag}</translation>
  </message>
  <message>
   <source>lag {lag} {trend}</source>
   <translation>Rückstand {lag} {trend}</translation>
  </message>
  <message>
   <source>largest message</source>
   <translation>größte Nachricht</translation>
  </message>
  <message>
   <source>largest message inside a Kafka client's compressed batch</source>
   <translation>größte Nachricht in einem komprimierten Batch eines Kafka-Clients</translation>
  </message>
  <message>
   <source>last heard</source>
   <translation>zuletzt gehört</translation>
  </message>
  <message>
   <source>last {count}</source>
   <translation>letzte {count}</translation>
  </message>
  <message>
   <source>last {count} messages</source>
   <translation>letzte {count} Nachrichten</translation>
  </message>
  <message>
   <source>later than the moment shown</source>
   <translation>nach dem gezeigten Zeitpunkt</translation>
  </message>
  <message>
   <source>leader</source>
   <translation>Leader</translation>
  </message>
  <message>
   <source>leader change told: {requests}</source>
   <translation>Wechsel des Leaders gemeldet: {requests}</translation>
  </message>
  <message>
   <source>leader {node}</source>
   <translation>Leader {node}</translation>
  </message>
  <message>
   <source>leads {count:,}</source>
   <translation>führt {count:,}</translation>
  </message>
  <message>
   <source>least in sync</source>
   <translation>mindestens synchron</translation>
  </message>
  <message>
   <source>left open</source>
   <translation>blieb offen</translation>
  </message>
  <message>
   <source>left without acknowledging it</source>
   <translation>ist gegangen, ohne sie zu bestätigen</translation>
  </message>
  <message>
   <source>let its lease run out</source>
   <translation>hat die Lease ablaufen lassen</translation>
  </message>
  <message>
   <source>level where messages are stored as gzip</source>
   <translation>Stufe, wenn Nachrichten als gzip gespeichert werden</translation>
  </message>
  <message>
   <source>level where messages are stored as lz4</source>
   <translation>Stufe, wenn Nachrichten als lz4 gespeichert werden</translation>
  </message>
  <message>
   <source>level where messages are stored as zstd</source>
   <translation>Stufe, wenn Nachrichten als zstd gespeichert werden</translation>
  </message>
  <message>
   <source>lifted the limits of {topic}</source>
   <translation>Grenzen von {topic} aufgehoben</translation>
  </message>
  <message>
   <source>like independent senders (Poisson)</source>
   <translation>wie von unabhängigen Sendern (Poisson)</translation>
  </message>
  <message>
   <source>limited {topic} to {what}: {policy}</source>
   <translation>{topic} auf {what} begrenzt: {policy}</translation>
  </message>
  <message>
   <source>line-1 was removed when its session timed out after ten seconds. Nobody read its partition until the group had rebalanced.</source>
   <translation>line-1 wurde entfernt, als seine Session nach zehn Sekunden ablief. Bis zum Ende des Rebalance las niemand seine Partition.</translation>
  </message>
  <message>
   <source>log-normal: a long tail, like real work</source>
   <translation>log-normal: langer Ausläufer, wie bei echter Arbeit</translation>
  </message>
  <message>
   <source>longest delay before a delivery</source>
   <translation>längste Wartezeit vor einer Zustellung</translation>
  </message>
  <message>
   <source>lost its connection to the broker</source>
   <translation>hat die Verbindung zum Broker verloren</translation>
  </message>
  <message>
   <source>lost the partition in a rebalance</source>
   <translation>hat die Partition in einem Rebalance verloren</translation>
  </message>
  <message>
   <source>lost: {count:,}</source>
   <translation>verloren: {count:,}</translation>
  </message>
  <message>
   <source>lower priorities are evicted</source>
   <translation>niedrigere Prioritäten werden verdrängt</translation>
  </message>
  <message>
   <source>markers</source>
   <translation>Marker</translation>
  </message>
  <message>
   <source>maximum bytes per second</source>
   <translation>höchstens so viele Bytes pro Sekunde</translation>
  </message>
  <message>
   <source>maximum number of unfinished bytes of the slowest reader</source>
   <translation>höchste Zahl unerledigter Bytes des langsamsten Lesers</translation>
  </message>
  <message>
   <source>maximum number of unfinished messages of the slowest reader</source>
   <translation>höchste Zahl unerledigter Nachrichten des langsamsten Lesers</translation>
  </message>
  <message>
   <source>maximum number of waiting messages</source>
   <translation>höchste Zahl von Nachrichten, die darin warten</translation>
  </message>
  <message>
   <source>may be chance</source>
   <translation>kann Zufall sein</translation>
  </message>
  <message>
   <source>may do nothing</source>
   <translation>darf nichts</translation>
  </message>
  <message>
   <source>may fetch</source>
   <translation>darf holen</translation>
  </message>
  <message>
   <source>may not {do}</source>
   <translation>darf nicht {do}</translation>
  </message>
  <message>
   <source>may send</source>
   <translation>darf senden</translation>
  </message>
  <message>
   <source>may {do}</source>
   <translation>darf {do}</translation>
  </message>
  <message>
   <source>member id</source>
   <translation>Mitglieds-ID</translation>
  </message>
  <message>
   <source>messages</source>
   <translation>Nachrichten</translation>
  </message>
  <message>
   <source>messages a second</source>
   <translation>Nachrichten pro Sekunde</translation>
  </message>
  <message>
   <source>messages allowed at once above the rate (none: as many as in one second)</source>
   <translation>Nachrichten auf einmal über der Rate (keine: die einer Sekunde)</translation>
  </message>
  <message>
   <source>messages beyond it are rejected</source>
   <translation>darüber werden Nachrichten abgelehnt</translation>
  </message>
  <message>
   <source>messages in flight</source>
   <translation>Nachrichten in Arbeit</translation>
  </message>
  <message>
   <source>messages of a level or partition that are leased at most (none: no limit)</source>
   <translation>wie viele Nachrichten einer Stufe oder Partition höchstens eine Lease haben (ohne: keine Grenze)</translation>
  </message>
  <message>
   <source>messages of a partition that share consumers hold at most</source>
   <translation>Nachrichten einer Partition, die Share-Consumer höchstens halten</translation>
  </message>
  <message>
   <source>messages/s</source>
   <translation>Nachrichten/s</translation>
  </message>
  <message>
   <source>miser never waits long, because it asks for less than its share.</source>
   <translation>miser wartet nie lange, denn er verlangt weniger als seinen Anteil.</translation>
  </message>
  <message>
   <source>missed a deadline</source>
   <translation>hat eine Frist versäumt</translation>
  </message>
  <message>
   <source>mm:ss or seconds; empty for everything</source>
   <translation>mm:ss oder Sekunden; leer für alles</translation>
  </message>
  <message>
   <source>moved a box</source>
   <translation>einen Kasten verschoben</translation>
  </message>
  <message>
   <source>moved to the dead letters</source>
   <translation>zu den Dead Letters verschoben</translation>
  </message>
  <message>
   <source>moved {client} to the bench</source>
   <translation>{client} auf die Bank verschoben</translation>
  </message>
  <message>
   <source>moved {client} to {group}</source>
   <translation>{client} nach {group} verschoben</translation>
  </message>
  <message>
   <source>moved {client} to {group} to read from the end</source>
   <translation>{client} nach {group} verschoben, liest ab dem Ende</translation>
  </message>
  <message>
   <source>ms</source>
   <translation>ms</translation>
  </message>
  <message>
   <source>nacked {place}</source>
   <translation>Nack für {place} gesendet</translation>
  </message>
  <message>
   <source>name = none</source>
   <translation>name = none</translation>
  </message>
  <message>
   <source>name contains x</source>
   <translation>name contains x</translation>
  </message>
  <message>
   <source>name of the resource; * means all of its kind; leave it out for the broker</source>
   <translation>Name der Ressource; * sind alle ihrer Art, und der Broker hat keinen</translation>
  </message>
  <message>
   <source>never at this rate</source>
   <translation>bei diesem Tempo nie</translation>
  </message>
  <message>
   <source>never expires</source>
   <translation>läuft nie ab</translation>
  </message>
  <message>
   <source>new-1 was told to give up a partition. It finished its current messages, committed, and reported this with a heartbeat; then new-4 got the partition. During that time, only this partition was not read.</source>
   <translation>new-1 sollte eine Partition abgeben. Es verarbeitete seine aktuellen Nachrichten, committete und meldete das mit einem Heartbeat; dann bekam new-4 die Partition. In dieser Zeit wurde nur diese eine Partition nicht gelesen.</translation>
  </message>
  <message>
   <source>no</source>
   <translation>nein</translation>
  </message>
  <message>
   <source>no consumers</source>
   <translation>keine Consumer</translation>
  </message>
  <message>
   <source>no dead letters</source>
   <translation>keine Dead Letters</translation>
  </message>
  <message>
   <source>no group</source>
   <translation>keine Gruppe</translation>
  </message>
  <message>
   <source>no group reads it</source>
   <translation>keine Gruppe liest es</translation>
  </message>
  <message>
   <source>no heartbeats</source>
   <translation>ohne Heartbeats</translation>
  </message>
  <message>
   <source>no idle consumers</source>
   <translation>keine ruhenden Consumer</translation>
  </message>
  <message>
   <source>no key</source>
   <translation>kein Schlüssel</translation>
  </message>
  <message>
   <source>no leader</source>
   <translation>kein Leader</translation>
  </message>
  <message>
   <source>no limit</source>
   <translation>keine Grenze</translation>
  </message>
  <message>
   <source>no message was delivered twice</source>
   <translation>keine Nachricht wurde doppelt zugestellt</translation>
  </message>
  <message>
   <source>no message was lost</source>
   <translation>keine Nachricht ging verloren</translation>
  </message>
  <message>
   <source>no partitions</source>
   <translation>keine Partitionen</translation>
  </message>
  <message>
   <source>no reader for {time} so far</source>
   <translation>bisher {time} kein Leser</translation>
  </message>
  <message>
   <source>no reader is behind</source>
   <translation>kein Leser ist im Rückstand</translation>
  </message>
  <message>
   <source>no reader {time}</source>
   <translation>kein Leser {time}</translation>
  </message>
  <message>
   <source>no schema</source>
   <translation>kein Schema</translation>
  </message>
  <message>
   <source>no value</source>
   <translation>kein Wert</translation>
  </message>
  <message>
   <source>no workers</source>
   <translation>keine Worker</translation>
  </message>
  <message>
   <source>no {what} at {time}</source>
   <translation>nicht: {what} um {time}</translation>
  </message>
  <message>
   <source>nobody</source>
   <translation>niemand</translation>
  </message>
  <message>
   <source>node {node}</source>
   <translation>Knoten {node}</translation>
  </message>
  <message>
   <source>none</source>
   <translation>keine</translation>
  </message>
  <message>
   <source>none found</source>
   <translation>keine gefunden</translation>
  </message>
  <message>
   <source>none, in memory</source>
   <translation>keine, im Speicher</translation>
  </message>
  <message>
   <source>none, on the bench</source>
   <translation>keine, auf der Bank</translation>
  </message>
  <message>
   <source>not counted</source>
   <translation>nicht gezählt</translation>
  </message>
  <message>
   <source>not delivered, or given back</source>
   <translation>nicht zugestellt oder zurückgegeben</translation>
  </message>
  <message>
   <source>not given</source>
   <translation>nicht angegeben</translation>
  </message>
  <message>
   <source>not known</source>
   <translation>nicht bekannt</translation>
  </message>
  <message>
   <source>not known yet</source>
   <translation>noch nicht bekannt</translation>
  </message>
  <message>
   <source>not read yet</source>
   <translation>noch nicht gelesen</translation>
  </message>
  <message>
   <source>not saved</source>
   <translation>nicht gespeichert</translation>
  </message>
  <message>
   <source>not set</source>
   <translation>nicht gesetzt</translation>
  </message>
  <message>
   <source>not yet acknowledged or dead-lettered: {count:,}</source>
   <translation>noch weder bestätigt noch ein Dead Letter: {count:,}</translation>
  </message>
  <message>
   <source>nothing</source>
   <translation>nichts</translation>
  </message>
  <message>
   <source>nothing was committed before</source>
   <translation>vorher war nichts committet</translation>
  </message>
  <message>
   <source>nothing: all segments are kept</source>
   <translation>nichts: alles bleibt</translation>
  </message>
  <message>
   <source>nothing: keep everything</source>
   <translation>nichts: alles behalten</translation>
  </message>
  <message>
   <source>number of partitions</source>
   <translation>Zahl der Partitionen</translation>
  </message>
  <message>
   <source>number of partitions afterwards</source>
   <translation>Zahl der Partitionen danach</translation>
  </message>
  <message>
   <source>of a transaction that was aborted</source>
   <translation>aus einer abgebrochenen Transaktion</translation>
  </message>
  <message>
   <source>of the broker (LogAppendTime)</source>
   <translation>des Brokers (LogAppendTime)</translation>
  </message>
  <message>
   <source>of the producer (CreateTime)</source>
   <translation>des Producers (CreateTime)</translation>
  </message>
  <message>
   <source>of {client}</source>
   <translation>von {client}</translation>
  </message>
  <message>
   <source>of {queue_name}</source>
   <translation>von {queue_name}</translation>
  </message>
  <message>
   <source>offsets</source>
   <translation>Offsets</translation>
  </message>
  <message>
   <source>offsets were reset beyond it, and it was never acknowledged</source>
   <translation>Offsets wurden hinter sie gesetzt, und sie wurde nie bestätigt</translation>
  </message>
  <message>
   <source>offsets {first} to {last} are lost: {cause}</source>
   <translation>Offsets {first} bis {last} sind verloren: {cause}</translation>
  </message>
  <message>
   <source>older than {time}</source>
   <translation>älter als {time}</translation>
  </message>
  <message>
   <source>oldest always has the latest messages; those it drops have waited the longest for nothing.</source>
   <translation>oldest hat immer die neuesten Nachrichten; die verworfenen haben am längsten umsonst gewartet.</translation>
  </message>
  <message>
   <source>oldest and urgent evict messages that have waited.</source>
   <translation>oldest und urgent verdrängen Nachrichten, die gewartet haben.</translation>
  </message>
  <message>
   <source>oldest evicts the message that has waited longest, so its messages are always recent. urgent evicts a less urgent message, so that there is always room for an urgent one.</source>
   <translation>oldest verdrängt die Nachricht, die am längsten gewartet hat; seine Nachrichten sind also immer aktuell. urgent verdrängt eine weniger dringende Nachricht, damit immer Platz für eine dringende ist.</translation>
  </message>
  <message>
   <source>on average</source>
   <translation>im Mittel</translation>
  </message>
  <message>
   <source>on {count:,} messages</source>
   <translation>bei {count:,} Nachrichten</translation>
  </message>
  <message>
   <source>once</source>
   <translation>einmal</translation>
  </message>
  <message>
   <source>only messages that were delivered were committed</source>
   <translation>nur zugestellte Nachrichten wurden committet</translation>
  </message>
  <message>
   <source>only show what would be done</source>
   <translation>nur zeigen, was geschehen würde</translation>
  </message>
  <message>
   <source>only the password for this one</source>
   <translation>nur das Passwort dafür</translation>
  </message>
  <message>
   <source>only those of exactly this cause</source>
   <translation>nur die mit genau dieser Ursache</translation>
  </message>
  <message>
   <source>only those redriven at least this many times</source>
   <translation>nur die mindestens so oft zurückgespielten</translation>
  </message>
  <message>
   <source>only those redriven at most this many times</source>
   <translation>nur die höchstens so oft zurückgespielten</translation>
  </message>
  <message>
   <source>only those with this text in the key, the value or a header</source>
   <translation>nur die mit diesem Text im Schlüssel, im Wert oder in einem Header</translation>
  </message>
  <message>
   <source>open</source>
   <translation>offen</translation>
  </message>
  <message>
   <source>orders.DLT is treated as dead letters because of its name. Origin, cause and attempts come from the headers that the program has written.</source>
   <translation>orders.DLT gilt wegen seines Namens als Dead-Letter-Topic. Ursprung, Ursache und Versuche stammen aus den Headern, die das Programm geschrieben hat.</translation>
  </message>
  <message>
   <source>other reasons</source>
   <translation>andere Gründe</translation>
  </message>
  <message>
   <source>over</source>
   <translation>vorbei</translation>
  </message>
  <message>
   <source>p50</source>
   <translation>p50</translation>
  </message>
  <message>
   <source>p99</source>
   <translation>p99</translation>
  </message>
  <message>
   <source>p99 &lt; 200 ms, or lag("billing") &lt; 100: one per line; the report says which are met</source>
   <translation>p99 &lt; 200 ms oder lag("billing") &lt; 100: eine je Zeile; der Bericht sagt, welche erfüllt sind</translation>
  </message>
  <message>
   <source>packer-1 owns all four partitions and continues from what packer-2 has committed. Each customer's orders stay in order, because no key has changed its partition.</source>
   <translation>packer-1 besitzt alle vier Partitionen und macht dort weiter, wo packer-2 committet hat. Die Bestellungen jedes Kunden bleiben in der richtigen Reihenfolge, denn kein Schlüssel hat die Partition gewechselt.</translation>
  </message>
  <message>
   <source>partitions</source>
   <translation>Partitionen</translation>
  </message>
  <message>
   <source>pause</source>
   <translation>Pause</translation>
  </message>
  <message>
   <source>paused {client}</source>
   <translation>{client} angehalten</translation>
  </message>
  <message>
   <source>paused {client} for {time} s</source>
   <translation>{client} für {time} s angehalten</translation>
  </message>
  <message>
   <source>payloads</source>
   <translation>Payloads</translation>
  </message>
  <message>
   <source>peak {rate}</source>
   <translation>Spitze {rate}</translation>
  </message>
  <message>
   <source>permanently delete what was already deleted (may be needed for old data)</source>
   <translation>endgültig löschen, was schon gelöscht ist (alte Daten brauchen das eventuell)</translation>
  </message>
  <message>
   <source>positions</source>
   <translation>Positionen</translation>
  </message>
  <message>
   <source>poster commits last. After a crash it reads some messages again; none is missed.</source>
   <translation>poster committet zuletzt. Nach einem Absturz liest er manche Nachrichten noch einmal; keine fehlt.</translation>
  </message>
  <message>
   <source>principal or user it applies to; * means everyone</source>
   <translation>Principal oder Benutzer, für den sie gilt; * sind alle</translation>
  </message>
  <message>
   <source>priority levels; 0 is the most urgent</source>
   <translation>Prioritätsstufen; 0 ist die dringendste</translation>
  </message>
  <message>
   <source>producer id</source>
   <translation>Producer-ID</translation>
  </message>
  <message>
   <source>producers</source>
   <translation>Producer</translation>
  </message>
  <message>
   <source>producers wait</source>
   <translation>Producer warten</translation>
  </message>
  <message>
   <source>purged by a user before it was acknowledged</source>
   <translation>von einem Benutzer geleert, bevor sie bestätigt war</translation>
  </message>
  <message>
   <source>purged {letters}</source>
   <translation>{letters} gelöscht</translation>
  </message>
  <message>
   <source>queue</source>
   <translation>Queue</translation>
  </message>
  <message>
   <source>queue of its dead letters (default: its name and .dlq)</source>
   <translation>Queue ihrer Dead Letters (Vorgabe: ihr Name und .dlq)</translation>
  </message>
  <message>
   <source>queue {name}</source>
   <translation>Queue {name}</translation>
  </message>
  <message>
   <source>rack</source>
   <translation>Rack</translation>
  </message>
  <message>
   <source>read</source>
   <translation>lesen</translation>
  </message>
  <message>
   <source>read-only partitions: {count:,}</source>
   <translation>schreibgeschützte Partitionen: {count:,}</translation>
  </message>
  <message>
   <source>reads {names}</source>
   <translation>liest {names}</translation>
  </message>
  <message>
   <source>ready to be delivered</source>
   <translation>bereit zur Zustellung</translation>
  </message>
  <message>
   <source>redelivered messages</source>
   <translation>erneut zugestellte Nachrichten</translation>
  </message>
  <message>
   <source>redrive at most this many per second</source>
   <translation>höchstens so viele je Sekunde zurückspielen</translation>
  </message>
  <message>
   <source>redrove {letters}</source>
   <translation>{letters} zurückgeführt</translation>
  </message>
  <message>
   <source>redrove {letters} at {rate}/s</source>
   <translation>{letters} zurückgeführt, {rate}/s</translation>
  </message>
  <message>
   <source>refuse tells its producer, which may try again; newest drops the message without telling anyone.</source>
   <translation>refuse sagt es seinem Producer, der es noch einmal versuchen kann; newest verwirft die Nachricht, ohne es jemandem zu sagen.</translation>
  </message>
  <message>
   <source>registered a version of {subject}</source>
   <translation>eine Version von {subject} registriert</translation>
  </message>
  <message>
   <source>reject</source>
   <translation>abweisen</translation>
  </message>
  <message>
   <source>reject: producers get an error</source>
   <translation>abweisen: Producer bekommen einen Fehler</translation>
  </message>
  <message>
   <source>rejects when full</source>
   <translation>weist ab, wenn voll</translation>
  </message>
  <message>
   <source>released {place}</source>
   <translation>{place} freigegeben</translation>
  </message>
  <message>
   <source>removed by compaction, at most so many</source>
   <translation>durch Kompaktierung entfernt, höchstens so viele</translation>
  </message>
  <message>
   <source>removed the alert {name}</source>
   <translation>Alarm {name} entfernt</translation>
  </message>
  <message>
   <source>removed the {name} of {who}</source>
   <translation>{name} von {who} entfernt</translation>
  </message>
  <message>
   <source>removed {client}</source>
   <translation>{client} entfernt</translation>
  </message>
  <message>
   <source>replaces</source>
   <translation>ersetzt</translation>
  </message>
  <message>
   <source>reply cut in the middle: {requests}</source>
   <translation>Antwort mittendrin abgeschnitten: {requests}</translation>
  </message>
  <message>
   <source>reply in pieces of {count}, each after {time} ms: {requests}</source>
   <translation>Antwort in Stücken zu {count}, jedes nach {time} ms: {requests}</translation>
  </message>
  <message>
   <source>reply lost: {requests}</source>
   <translation>Antwort verloren: {requests}</translation>
  </message>
  <message>
   <source>requests</source>
   <translation>Requests</translation>
  </message>
  <message>
   <source>required</source>
   <translation>nötig</translation>
  </message>
  <message>
   <source>reset {group} in {places} {where}</source>
   <translation>{group} in {places} {where} zurückgesetzt</translation>
  </message>
  <message>
   <source>reset {group} {where}</source>
   <translation>{group} {where} zurückgesetzt</translation>
  </message>
  <message>
   <source>reset {group} {where} in {partitions}</source>
   <translation>{group} in {partitions} {where} zurückgesetzt</translation>
  </message>
  <message>
   <source>restarted</source>
   <translation>neu gestartet</translation>
  </message>
  <message>
   <source>restarted {client}</source>
   <translation>{client} neu gestartet</translation>
  </message>
  <message>
   <source>retry without end</source>
   <translation>endlos wiederholen</translation>
  </message>
  <message>
   <source>role</source>
   <translation>Rolle</translation>
  </message>
  <message>
   <source>rule {name} is over</source>
   <translation>Regel {name} endet</translation>
  </message>
  <message>
   <source>saved</source>
   <translation>gespeichert</translation>
  </message>
  <message>
   <source>scenario</source>
   <translation>Szenario</translation>
  </message>
  <message>
   <source>schema subject</source>
   <translation>Schema-Subject</translation>
  </message>
  <message>
   <source>screens reads every message, booked waits.</source>
   <translation>screens liest jede Nachricht, booked wartet.</translation>
  </message>
  <message>
   <source>seed</source>
   <translation>Seed</translation>
  </message>
  <message>
   <source>send each at once</source>
   <translation>jede sofort senden</translation>
  </message>
  <message>
   <source>send them to this topic instead of their origin</source>
   <translation>sie an dieses Topic senden statt an ihren Ursprung</translation>
  </message>
  <message>
   <source>sent {messages} to {topic}</source>
   <translation>{messages} an {topic} gesendet</translation>
  </message>
  <message>
   <source>sent {messages} to {topic} at {rate}/s</source>
   <translation>{messages} an {topic} gesendet, {rate}/s</translation>
  </message>
  <message>
   <source>served late</source>
   <translation>verspätet bedient</translation>
  </message>
  <message>
   <source>served slowly, at a number of bytes/s</source>
   <translation>langsam bedient, mit begrenzten Bytes/s</translation>
  </message>
  <message>
   <source>served, and the client is throttled</source>
   <translation>bedient, und der Client wird gedrosselt</translation>
  </message>
  <message>
   <source>served, and the reply comes in pieces</source>
   <translation>bedient, und die Antwort kommt in Stücken</translation>
  </message>
  <message>
   <source>served, and the reply is cut in the middle</source>
   <translation>bedient, und die Antwort bricht in der Mitte ab</translation>
  </message>
  <message>
   <source>served, and the reply is lost</source>
   <translation>bedient, und die Antwort geht verloren</translation>
  </message>
  <message>
   <source>set a rule: {rule}</source>
   <translation>Regel gesetzt: {rule}</translation>
  </message>
  <message>
   <source>set the alert {name}: {what}</source>
   <translation>Alarm {name} gesetzt: {what}</translation>
  </message>
  <message>
   <source>set the assignor of {group} to {name}</source>
   <translation>Assignor von {group} auf {name} gesetzt</translation>
  </message>
  <message>
   <source>set the wall clock by {time} s</source>
   <translation>Wanduhr um {time} s verstellt</translation>
  </message>
  <message>
   <source>set the {name} of {who} to {rate}</source>
   <translation>{name} von {who} auf {rate} gesetzt</translation>
  </message>
  <message>
   <source>set {client} to {rate} messages/s</source>
   <translation>{client} auf {rate} Nachrichten/s gesetzt</translation>
  </message>
  <message>
   <source>set {client} to {time} ms for each message</source>
   <translation>{client} auf {time} ms pro Nachricht gesetzt</translation>
  </message>
  <message>
   <source>set {offsets} of {group}</source>
   <translation>{offsets} von {group} gesetzt</translation>
  </message>
  <message>
   <source>share consumers may hold messages for longer</source>
   <translation>Share-Consumer dürfen Nachrichten länger halten</translation>
  </message>
  <message>
   <source>share of a log that is new before it is compacted again</source>
   <translation>Anteil eines Logs, der neu ist, bevor es wieder kompaktiert wird</translation>
  </message>
  <message>
   <source>show at most this many</source>
   <translation>höchstens so viele zeigen</translation>
  </message>
  <message>
   <source>show at most this many messages</source>
   <translation>höchstens so viele Nachrichten zeigen</translation>
  </message>
  <message>
   <source>since</source>
   <translation>seit</translation>
  </message>
  <message>
   <source>since {time}</source>
   <translation>seit {time}</translation>
  </message>
  <message>
   <source>since {time}, for {length}</source>
   <translation>seit {time}, für {length}</translation>
  </message>
  <message>
   <source>size at which a segment file is closed; retention deletes whole segments</source>
   <translation>Größe, bei der eine Segmentdatei geschlossen wird; die Aufbewahrung löscht ganze Segmente</translation>
  </message>
  <message>
   <source>size not recorded</source>
   <translation>Größe nicht aufgezeichnet</translation>
  </message>
  <message>
   <source>size of a partition above which its oldest messages are deleted</source>
   <translation>Größe einer Partition, ab der ihre ältesten Nachrichten gelöscht werden</translation>
  </message>
  <message>
   <source>slow</source>
   <translation>langsam</translation>
  </message>
  <message>
   <source>slow down {factor} times</source>
   <translation>{factor}-mal langsamer</translation>
  </message>
  <message>
   <source>slowed {client} down {factor} times</source>
   <translation>{client} um das {factor}-Fache verlangsamt</translation>
  </message>
  <message>
   <source>slowed {client} down {factor} times for {time} s</source>
   <translation>{client} für {time} s um das {factor}-Fache verlangsamt</translation>
  </message>
  <message>
   <source>slowest</source>
   <translation>langsamster</translation>
  </message>
  <message>
   <source>slowest reader {name}</source>
   <translation>langsamster Leser {name}</translation>
  </message>
  <message>
   <source>slowest reader: {name}</source>
   <translation>langsamster Leser: {name}</translation>
  </message>
  <message>
   <source>so far</source>
   <translation>bis jetzt</translation>
  </message>
  <message>
   <source>some time between {start} and {end}; for how long is not known from outside</source>
   <translation>irgendwann zwischen {start} und {end}; wie lange, ist von außen nicht bekannt</translation>
  </message>
  <message>
   <source>started</source>
   <translation>begonnen</translation>
  </message>
  <message>
   <source>state of {clock}</source>
   <translation>Stand von {clock}</translation>
  </message>
  <message>
   <source>static does not rebalance at all; the price is that nobody reads the partitions of a member that is away.</source>
   <translation>static macht gar keinen Rebalance; der Preis ist, dass niemand die Partitionen eines Mitglieds liest, das weg ist.</translation>
  </message>
  <message>
   <source>stays</source>
   <translation>bleibt</translation>
  </message>
  <message>
   <source>stock is always up to date.</source>
   <translation>stock ist immer auf dem neuesten Stand.</translation>
  </message>
  <message>
   <source>stopped</source>
   <translation>gestoppt</translation>
  </message>
  <message>
   <source>stopped the redrive of {queue}</source>
   <translation>Zurückführen von {queue} angehalten</translation>
  </message>
  <message>
   <source>stranger-1 came back as a new member. The group waited until the old member's session timed out, and all members stood still for five seconds.</source>
   <translation>stranger-1 kam als neues Mitglied zurück. Die Gruppe wartete, bis die Session des alten abgelaufen war, und alle Mitglieder standen fünf Sekunden still.</translation>
  </message>
  <message>
   <source>subscribed {group} to {topic}</source>
   <translation>{group} auf {topic} abonniert</translation>
  </message>
  <message>
   <source>subscriber</source>
   <translation>Abonnent</translation>
  </message>
  <message>
   <source>such as invoices</source>
   <translation>etwa rechnungen</translation>
  </message>
  <message>
   <source>such as mails</source>
   <translation>etwa mails</translation>
  </message>
  <message>
   <source>such as payments</source>
   <translation>etwa zahlungen</translation>
  </message>
  <message>
   <source>such as reports</source>
   <translation>etwa berichte</translation>
  </message>
  <message>
   <source>text</source>
   <translation>Text</translation>
  </message>
  <message>
   <source>the bench</source>
   <translation>die Bank</translation>
  </message>
  <message>
   <source>the broker as a whole</source>
   <translation>der Broker als Ganzes</translation>
  </message>
  <message>
   <source>the broker crashed</source>
   <translation>der Broker ist abgestürzt</translation>
  </message>
  <message>
   <source>the broker was started again</source>
   <translation>der Broker wurde neu gestartet</translation>
  </message>
  <message>
   <source>the disk</source>
   <translation>die Platte</translation>
  </message>
  <message>
   <source>the earliest message</source>
   <translation>die früheste Nachricht</translation>
  </message>
  <message>
   <source>the end: skip everything</source>
   <translation>das Ende: alles überspringen</translation>
  </message>
  <message>
   <source>the newest messages are dropped</source>
   <translation>die neuesten Nachrichten werden verworfen</translation>
  </message>
  <message>
   <source>the oldest messages are dropped</source>
   <translation>die ältesten Nachrichten werden verworfen</translation>
  </message>
  <message>
   <source>the order of each key was kept</source>
   <translation>die Reihenfolge jedes Schlüssels blieb gewahrt</translation>
  </message>
  <message>
   <source>the program died</source>
   <translation>Programm beendet</translation>
  </message>
  <message>
   <source>the recording failed</source>
   <translation>Aufzeichnung gescheitert</translation>
  </message>
  <message>
   <source>the schedule goes on</source>
   <translation>der Zeitplan läuft weiter</translation>
  </message>
  <message>
   <source>the schedule waits for the lesson</source>
   <translation>der Zeitplan wartet auf die Lektion</translation>
  </message>
  <message>
   <source>the schema's language</source>
   <translation>die Sprache des Schemas</translation>
  </message>
  <message>
   <source>the user of client.properties, for every program on this machine</source>
   <translation>der Benutzer von client.properties, für jedes Programm auf diesem Rechner</translation>
  </message>
  <message>
   <source>the user of client.properties, for programs that know a token</source>
   <translation>der Benutzer von client.properties, für Programme, die ein Token kennen</translation>
  </message>
  <message>
   <source>the versions of other subjects that it names</source>
   <translation>die Versionen anderer Subjects, die es nennt</translation>
  </message>
  <message>
   <source>the whole</source>
   <translation>das Ganze</translation>
  </message>
  <message>
   <source>their origin</source>
   <translation>ihren Ursprung</translation>
  </message>
  <message>
   <source>this version runs the session differently: {count:,} events up to {time}, but {events:,} were recorded</source>
   <translation>diese Version führt die Sitzung anders aus: {count:,} Ereignisse bis {time}, aufgezeichnet sind aber {events:,}</translation>
  </message>
  <message>
   <source>throttle of {time} ms: {requests}</source>
   <translation>Drosselung von {time} ms: {requests}</translation>
  </message>
  <message>
   <source>time after which a waiting message rises by one level (none: never)</source>
   <translation>Zeit, nach der eine wartende Nachricht um eine Stufe steigt (keine: nie)</translation>
  </message>
  <message>
   <source>time left on each lease</source>
   <translation>Restzeit jeder Lease</translation>
  </message>
  <message>
   <source>timeout</source>
   <translation>Timeout</translation>
  </message>
  <message>
   <source>to</source>
   <translation>bis</translation>
  </message>
  <message>
   <source>to offset {offset}</source>
   <translation>auf Offset {offset}</translation>
  </message>
  <message>
   <source>to session time {time} s</source>
   <translation>auf Sitzungszeit {time} s</translation>
  </message>
  <message>
   <source>to the Unix time {time} s</source>
   <translation>auf die Unix-Zeit {time} s</translation>
  </message>
  <message>
   <source>to the earliest message</source>
   <translation>auf die früheste Nachricht</translation>
  </message>
  <message>
   <source>to the end</source>
   <translation>ans Ende</translation>
  </message>
  <message>
   <source>to where {group} is</source>
   <translation>dorthin, wo {group} steht</translation>
  </message>
  <message>
   <source>to {client} of {group}</source>
   <translation>an {client} aus {group}</translation>
  </message>
  <message>
   <source>to {place}</source>
   <translation>nach {place}</translation>
  </message>
  <message>
   <source>to {place} at {offset}</source>
   <translation>nach {place} bei {offset}</translation>
  </message>
  <message>
   <source>told that the coordinator has changed</source>
   <translation>erfährt, dass der Koordinator gewechselt hat</translation>
  </message>
  <message>
   <source>told that the partition's leader has changed</source>
   <translation>erfährt, dass der Leader der Partition gewechselt hat</translation>
  </message>
  <message>
   <source>took back the edit of dead letter {offset} of {queue}</source>
   <translation>Änderung an Dead Letter {offset} von {queue} zurückgenommen</translation>
  </message>
  <message>
   <source>took {time}; afterwards no member read {topics}</source>
   <translation>dauerte {time}; danach las kein Mitglied {topics}</translation>
  </message>
  <message>
   <source>took {time}; for how long nobody read is not known</source>
   <translation>dauerte {time}; wie lange niemand las, ist nicht bekannt</translation>
  </message>
  <message>
   <source>took {time}; no partition lost its reader</source>
   <translation>dauerte {time}; keine Partition verlor ihren Leser</translation>
  </message>
  <message>
   <source>topic</source>
   <translation>Topic</translation>
  </message>
  <message>
   <source>topic to which dead letters are written</source>
   <translation>Topic, in das Dead Letters geschrieben werden</translation>
  </message>
  <message>
   <source>topic whose messages it gets from now on</source>
   <translation>Topic, dessen Nachrichten sie von jetzt an bekommt</translation>
  </message>
  <message>
   <source>topic {source} has {messages}, and nobody reads it</source>
   <translation>Topic {source} hat {messages}, und niemand liest es</translation>
  </message>
  <message>
   <source>topic, group, queue, dlq, producer, consumer or worker.</source>
   <translation>topic, group, queue, dlq, producer, consumer oder worker.</translation>
  </message>
  <message>
   <source>topics</source>
   <translation>Topics</translation>
  </message>
  <message>
   <source>transactional id</source>
   <translation>Transactional ID</translation>
  </message>
  <message>
   <source>treat the name as a prefix</source>
   <translation>der Name ist nur der Anfang von Namen</translation>
  </message>
  <message>
   <source>twice</source>
   <translation>zweimal</translation>
  </message>
  <message>
   <source>undid the purge of dead letters of {queue}</source>
   <translation>gelöschte Dead Letters von {queue} zurückgeholt</translation>
  </message>
  <message>
   <source>undid the purge of {queue}</source>
   <translation>gelöschte Nachrichten von {queue} zurückgeholt</translation>
  </message>
  <message>
   <source>undid the redrive of {queue}</source>
   <translation>Zurückführen von {queue} rückgängig gemacht</translation>
  </message>
  <message>
   <source>uniform, up to twice as long</source>
   <translation>gleichverteilt, bis zu doppelt so lange</translation>
  </message>
  <message>
   <source>unsubscribed {group} from {topic}</source>
   <translation>{group} von {topic} abgemeldet</translation>
  </message>
  <message>
   <source>until</source>
   <translation>bis</translation>
  </message>
  <message>
   <source>until it is ended</source>
   <translation>bis sie beendet wird</translation>
  </message>
  <message>
   <source>up to offset {offset}</source>
   <translation>bis Offset {offset}</translation>
  </message>
  <message>
   <source>urgent drops messages that can wait, so that there is always room for emergencies.</source>
   <translation>urgent verwirft Nachrichten, die warten können, damit immer Platz für Notfälle ist.</translation>
  </message>
  <message>
   <source>user {name}</source>
   <translation>Benutzer {name}</translation>
  </message>
  <message>
   <source>user; * is every user who has no quota by name</source>
   <translation>Benutzer; * ist jeder, für den keine Quota mit seinem Namen gilt</translation>
  </message>
  <message>
   <source>values must be accepted by the schema of this subject</source>
   <translation>Werte müssen zum Schema dieses Subjects passen</translation>
  </message>
  <message>
   <source>wait loses nothing, and its producer is blocked half of the time.</source>
   <translation>wait verliert nichts, und sein Producer ist die Hälfte der Zeit blockiert.</translation>
  </message>
  <message>
   <source>waits for its next attempt at {time}</source>
   <translation>wartet auf den nächsten Versuch um {time}</translation>
  </message>
  <message>
   <source>wall clock set by {time} s</source>
   <translation>Wanduhr um {time} s verstellt</translation>
  </message>
  <message>
   <source>was reset to before it</source>
   <translation>wurde vor sie zurückgesetzt</translation>
  </message>
  <message>
   <source>what happens at a limit</source>
   <translation>was an einer Grenze geschieht</translation>
  </message>
  <message>
   <source>what happens to other values: they are refused or become dead letters</source>
   <translation>was mit anderen Werten geschieht: Sie werden abgewiesen oder zu Dead Letters</translation>
  </message>
  <message>
   <source>what happens when it is full: producers wait or are refused, or only this subscriber misses messages</source>
   <translation>was geschieht, wenn sie voll ist: Producer warten oder werden abgewiesen, oder nur diesem Abonnenten entgehen Nachrichten</translation>
  </message>
  <message>
   <source>what is limited</source>
   <translation>was begrenzt wird</translation>
  </message>
  <message>
   <source>what the principal may do</source>
   <translation>was der Principal darf</translation>
  </message>
  <message>
   <source>what they fetch</source>
   <translation>was sie holen</translation>
  </message>
  <message>
   <source>what they send</source>
   <translation>was sie senden</translation>
  </message>
  <message>
   <source>what was published</source>
   <translation>was gesendet wurde</translation>
  </message>
  <message>
   <source>when it is sealed</source>
   <translation>wenn sie versiegelt ist</translation>
  </message>
  <message>
   <source>where a share group begins in a topic that it has not read</source>
   <translation>wo eine Share-Gruppe in einem Topic beginnt, das sie nicht gelesen hat</translation>
  </message>
  <message>
   <source>where another group is</source>
   <translation>wo eine andere Gruppe ist</translation>
  </message>
  <message>
   <source>whether a share group reads open and aborted transactions</source>
   <translation>ob eine Share-Gruppe offene und abgebrochene Transaktionen liest</translation>
  </message>
  <message>
   <source>whether share groups may write dead letters to it</source>
   <translation>ob Share-Gruppen Dead Letters in es schreiben dürfen</translation>
  </message>
  <message>
   <source>which timestamp messages get: the producer's, or the broker's when it appends them</source>
   <translation>welchen Zeitstempel Nachrichten bekommen: den des Producers oder den des Brokers beim Anhängen</translation>
  </message>
  <message>
   <source>which waiting consumer gets the next message</source>
   <translation>welcher wartende Consumer die nächste Nachricht bekommt</translation>
  </message>
  <message>
   <source>will have no reader</source>
   <translation>haben dann keinen Leser</translation>
  </message>
  <message>
   <source>with its effect: effectively once</source>
   <translation>mit ihrem Ergebnis: effektiv einmal</translation>
  </message>
  <message>
   <source>without keys</source>
   <translation>ohne Schlüssel</translation>
  </message>
  <message>
   <source>word another</source>
   <translation>wort anderes</translation>
  </message>
  <message>
   <source>worse</source>
   <translation>schlechter</translation>
  </message>
  <message>
   <source>worst lag {count}</source>
   <translation>größter Rückstand {count}</translation>
  </message>
  <message>
   <source>write</source>
   <translation>schreiben</translation>
  </message>
  <message>
   <source>yes</source>
   <translation>ja</translation>
  </message>
  <message>
   <source>yes or no</source>
   <translation>ja oder nein</translation>
  </message>
  <message>
   <source>yet to come</source>
   <translation>kommt noch</translation>
  </message>
  <message>
   <source>{acknowledged:,} acknowledged, {redelivered:,} redelivered</source>
   <translation>{acknowledged:,} bestätigt, {redelivered:,} erneut zugestellt</translation>
  </message>
  <message>
   <source>{api}: {count:,}, p50 {p50}, p99 {p99}</source>
   <translation>{api}: {count:,}, p50 {p50}, p99 {p99}</translation>
  </message>
  <message>
   <source>{assignor} (now)</source>
   <translation>{assignor} (jetzt)</translation>
  </message>
  <message>
   <source>{assignor} assignor, reads {topics}</source>
   <translation>Assignor {assignor}, liest {topics}</translation>
  </message>
  <message>
   <source>{attempt} of {max_attempts}</source>
   <translation>{attempt} von {max_attempts}</translation>
  </message>
  <message>
   <source>{client} asked for a rebalance</source>
   <translation>{client} hat einen Rebalance verlangt</translation>
  </message>
  <message>
   <source>{client} blocked by {topic}, {{lasted}}</source>
   <translation>{client} blockiert durch {topic}, {{lasted}}</translation>
  </message>
  <message>
   <source>{client} came back as {name}</source>
   <translation>{client} ist als {name} zurückgekommen</translation>
  </message>
  <message>
   <source>{client} came back during a rebalance</source>
   <translation>{client} kam während eines Rebalance zurück</translation>
  </message>
  <message>
   <source>{client} changed its subscription</source>
   <translation>{client} hat seine Topics geändert</translation>
  </message>
  <message>
   <source>{client} continues at offset {offset} of {place}.</source>
   <translation>{client} liest bei Offset {offset} von {place} weiter.</translation>
  </message>
  <message>
   <source>{client} did not give up its partitions within {time}</source>
   <translation>{client} hat seine Partitionen nicht binnen {time} abgegeben</translation>
  </message>
  <message>
   <source>{client} did not poll for {time}</source>
   <translation>{client} hat {time} lang keinen Poll gemacht</translation>
  </message>
  <message>
   <source>{client} did not rejoin within {time}</source>
   <translation>{client} ist nicht binnen {time} neu beigetreten</translation>
  </message>
  <message>
   <source>{client} did not sync within {time}</source>
   <translation>{client} hat sich nicht binnen {time} synchronisiert</translation>
  </message>
  <message>
   <source>{client} joined</source>
   <translation>{client} ist beigetreten</translation>
  </message>
  <message>
   <source>{client} left</source>
   <translation>{client} hat die Gruppe verlassen</translation>
  </message>
  <message>
   <source>{client} missed its heartbeats for {time}</source>
   <translation>{client} hat seit {time} keinen Heartbeat gesendet</translation>
  </message>
  <message>
   <source>{client} of {reader}</source>
   <translation>{client} von {reader}</translation>
  </message>
  <message>
   <source>{client} seeks {where} in {place}</source>
   <translation>{client} springt in {place} {where}</translation>
  </message>
  <message>
   <source>{client} sends at the pace of its scenario again</source>
   <translation>{client} sendet wieder so schnell wie im Szenario</translation>
  </message>
  <message>
   <source>{client} unsubscribed</source>
   <translation>{client} hat sich abgemeldet</translation>
  </message>
  <message>
   <source>{client} was moved to the bench</source>
   <translation>{client} wurde auf die Bank gesetzt</translation>
  </message>
  <message>
   <source>{client} was removed</source>
   <translation>{client} wurde entfernt</translation>
  </message>
  <message>
   <source>{client}, aborted after {time}</source>
   <translation>{client}, abgebrochen nach {time}</translation>
  </message>
  <message>
   <source>{consumer} alone reads {topics}.</source>
   <translation>{consumer} allein liest {topics}.</translation>
  </message>
  <message>
   <source>{consumer} belongs to another program, which sets its group.id: it can only go to the bench and back to {group}.</source>
   <translation>{consumer} gehört zu einem anderen Programm, das die group.id festlegt: Er kann nur auf die Bank und zurück in {group}.</translation>
  </message>
  <message>
   <source>{consumer} cannot go there.</source>
   <translation>{consumer} kann nicht dorthin.</translation>
  </message>
  <message>
   <source>{consumer} is already in this group.</source>
   <translation>{consumer} ist schon in dieser Gruppe.</translation>
  </message>
  <message>
   <source>{consumer} is already on the bench.</source>
   <translation>{consumer} ist schon auf der Bank.</translation>
  </message>
  <message>
   <source>{consumer} no longer owns {place}</source>
   <translation>{consumer} besitzt {place} nicht mehr</translation>
  </message>
  <message>
   <source>{consumer} to a new group</source>
   <translation>{consumer} in eine neue Gruppe</translation>
  </message>
  <message>
   <source>{consumer} to the bench</source>
   <translation>{consumer} auf die Bank</translation>
  </message>
  <message>
   <source>{consumer} to {target}</source>
   <translation>{consumer} nach {target}</translation>
  </message>
  <message>
   <source>{count:,} assigned, without an owner before</source>
   <translation>{count:,} zugeteilt, vorher ohne Besitzer</translation>
  </message>
  <message>
   <source>{count:,} behind</source>
   <translation>{count:,} im Rückstand</translation>
  </message>
  <message>
   <source>{count:,} bytes</source>
   <translation>{count:,} Bytes</translation>
  </message>
  <message>
   <source>{count:,} bytes are too many to show as a tree.</source>
   <translation>{count:,} Bytes sind zu viele für eine Baumansicht.</translation>
  </message>
  <message>
   <source>{count:,} dead-lettered</source>
   <translation>{count:,} zum Dead Letter geworden</translation>
  </message>
  <message>
   <source>{count:,} groups</source>
   <translation>{count:,} Gruppen</translation>
  </message>
  <message>
   <source>{count:,} in flight</source>
   <translation>{count:,} in Arbeit</translation>
  </message>
  <message>
   <source>{count:,} in hand</source>
   <translation>{count:,} in Händen</translation>
  </message>
  <message>
   <source>{count:,} in hand, the first of {client}</source>
   <translation>{count:,} in Händen, die erste bei {client}</translation>
  </message>
  <message>
   <source>{count:,} iterations</source>
   <translation>{count:,} Iterationen</translation>
  </message>
  <message>
   <source>{count:,} leaderless</source>
   <translation>{count:,} ohne Leader</translation>
  </message>
  <message>
   <source>{count:,} leaders moved</source>
   <translation>{count:,} Leader gewechselt</translation>
  </message>
  <message>
   <source>{count:,} messages</source>
   <translation>{count:,} Nachrichten</translation>
  </message>
  <message>
   <source>{count:,} more</source>
   <translation>{count:,} weitere</translation>
  </message>
  <message>
   <source>{count:,} more groups</source>
   <translation>{count:,} weitere Gruppen</translation>
  </message>
  <message>
   <source>{count:,} more producers</source>
   <translation>{count:,} weitere Producer</translation>
  </message>
  <message>
   <source>{count:,} more queues</source>
   <translation>{count:,} weitere Queues</translation>
  </message>
  <message>
   <source>{count:,} more topics</source>
   <translation>{count:,} weitere Topics</translation>
  </message>
  <message>
   <source>{count:,} more topics, {behind:,} behind</source>
   <translation>{count:,} weitere Topics, {behind:,} im Rückstand</translation>
  </message>
  <message>
   <source>{count:,} ms</source>
   <translation>{count:,} ms</translation>
  </message>
  <message>
   <source>{count:,} new</source>
   <translation>{count:,} neu</translation>
  </message>
  <message>
   <source>{count:,} of {total:,}</source>
   <translation>{count:,} von {total:,}</translation>
  </message>
  <message>
   <source>{count:,} owners before</source>
   <translation>{count:,} Besitzer davor</translation>
  </message>
  <message>
   <source>{count:,} partitions move</source>
   <translation>{count:,} Partitionen wechseln</translation>
  </message>
  <message>
   <source>{count:,} partitions not known</source>
   <translation>{count:,} Partitionen nicht bekannt</translation>
  </message>
  <message>
   <source>{count:,} queues</source>
   <translation>{count:,} Queues</translation>
  </message>
  <message>
   <source>{count:,} quiet topics</source>
   <translation>{count:,} ruhige Topics</translation>
  </message>
  <message>
   <source>{count:,} rebalances</source>
   <translation>{count:,} Rebalances</translation>
  </message>
  <message>
   <source>{count:,} recordings</source>
   <translation>{count:,} Aufzeichnungen</translation>
  </message>
  <message>
   <source>{count:,} redriven</source>
   <translation>{count:,} per Redrive zurück</translation>
  </message>
  <message>
   <source>{count:,} revoked</source>
   <translation>{count:,} entzogen</translation>
  </message>
  <message>
   <source>{count:,} stay</source>
   <translation>{count:,} bleiben</translation>
  </message>
  <message>
   <source>{count:,} times</source>
   <translation>{count:,}-mal</translation>
  </message>
  <message>
   <source>{count:,} topics</source>
   <translation>{count:,} Topics</translation>
  </message>
  <message>
   <source>{count:,} under-replicated</source>
   <translation>{count:,} nicht ganz repliziert</translation>
  </message>
  <message>
   <source>{count:,} waiting</source>
   <translation>{count:,} wartend</translation>
  </message>
  <message>
   <source>{count:,}, {active:,} running</source>
   <translation>{count:,}, {active:,} laufen</translation>
  </message>
  <message>
   <source>{count:,}, {new:,} new</source>
   <translation>{count:,}, {new:,} neu</translation>
  </message>
  <message>
   <source>{count} assertions do not hold</source>
   <translation>{count} Bedingungen gelten nicht</translation>
  </message>
  <message>
   <source>{count} consumers</source>
   <translation>{count} Consumer</translation>
  </message>
  <message>
   <source>{count} dead letters</source>
   <translation>{count} Dead Letters</translation>
  </message>
  <message>
   <source>{count} dead letters of {queue}</source>
   <translation>{count} Dead Letters von {queue}</translation>
  </message>
  <message>
   <source>{count} dead letters will be removed. They can be restored for {minutes} minutes of session time (Ctrl+Z).</source>
   <translation>{count} Dead Letters werden herausgenommen. {minutes} Minuten Sitzungszeit lang lassen sie sich zurückholen (Strg+Z).</translation>
  </message>
  <message>
   <source>{count} fields</source>
   <translation>{count} Felder</translation>
  </message>
  <message>
   <source>{count} idle</source>
   <translation>{count} in Ruhe</translation>
  </message>
  <message>
   <source>{count} idle consumers</source>
   <translation>{count} ruhende Consumer</translation>
  </message>
  <message>
   <source>{count} items</source>
   <translation>{count} Einträge</translation>
  </message>
  <message>
   <source>{count} members</source>
   <translation>{count} Mitglieder</translation>
  </message>
  <message>
   <source>{count} messages</source>
   <translation>{count} Nachrichten</translation>
  </message>
  <message>
   <source>{count} messages are waiting in {queue} and will be removed.{stays} They can be restored for {minutes} minutes of session time (Ctrl+Z).</source>
   <translation>{count} Nachrichten warten in {queue} und werden herausgenommen.{stays} {minutes} Minuten Sitzungszeit lang lassen sie sich zurückholen (Strg+Z).</translation>
  </message>
  <message>
   <source>{count} messages were lost.</source>
   <translation>{count} Nachrichten gingen verloren.</translation>
  </message>
  <message>
   <source>{count} messages will be deleted for good.</source>
   <translation>{count} Nachrichten werden endgültig gelöscht.</translation>
  </message>
  <message>
   <source>{count} messages, published in batches</source>
   <translation>{count} Nachrichten, in Batches veröffentlicht</translation>
  </message>
  <message>
   <source>{count} more</source>
   <translation>{count} weitere</translation>
  </message>
  <message>
   <source>{count} more keys</source>
   <translation>{count} weitere Schlüssel</translation>
  </message>
  <message>
   <source>{count} newer</source>
   <translation>{count} neuere</translation>
  </message>
  <message>
   <source>{count} of {all} figures differ.</source>
   <translation>{count} von {all} Kennzahlen weichen ab.</translation>
  </message>
  <message>
   <source>{count} offsets</source>
   <translation>{count} Offsets</translation>
  </message>
  <message>
   <source>{count} partitions</source>
   <translation>{count} Partitionen</translation>
  </message>
  <message>
   <source>{count} partitions as a heat map{share}</source>
   <translation>{count} Partitionen als Wärmebild{share}</translation>
  </message>
  <message>
   <source>{count} producers</source>
   <translation>{count} Producer</translation>
  </message>
  <message>
   <source>{count} queues</source>
   <translation>{count} Queues</translation>
  </message>
  <message>
   <source>{count} read again</source>
   <translation>{count} noch einmal gelesen</translation>
  </message>
  <message>
   <source>{count} ready</source>
   <translation>{count} bereit</translation>
  </message>
  <message>
   <source>{count} skipped</source>
   <translation>{count} übersprungen</translation>
  </message>
  <message>
   <source>{count} times</source>
   <translation>{count}-mal</translation>
  </message>
  <message>
   <source>{count} times the broker was not seen for a while: what it did then is missing.</source>
   <translation>{count}-mal war der Broker eine Weile nicht zu sehen: Was er da tat, fehlt.</translation>
  </message>
  <message>
   <source>{count} topics</source>
   <translation>{count} Topics</translation>
  </message>
  <message>
   <source>{count} workers</source>
   <translation>{count} Worker</translation>
  </message>
  <message>
   <source>{count}, oldest {age}</source>
   <translation>{count}, älteste {age}</translation>
  </message>
  <message>
   <source>{dead} of {queue}</source>
   <translation>{dead} von {queue}</translation>
  </message>
  <message>
   <source>{depth} of {limit}</source>
   <translation>{depth} von {limit}</translation>
  </message>
  <message>
   <source>{depth}, no limit</source>
   <translation>{depth}, keine Grenze</translation>
  </message>
  <message>
   <source>{done:,} of {whole:,} events</source>
   <translation>{done:,} von {whole:,} Ereignissen</translation>
  </message>
  <message>
   <source>{done} of {count}</source>
   <translation>{done} von {count}</translation>
  </message>
  <message>
   <source>{done} of {total}</source>
   <translation>{done} von {total}</translation>
  </message>
  <message>
   <source>{done} of {total} dead letters of {topic} were redriven.</source>
   <translation>{done} von {total} Dead Letters von {topic} wurden zurückgeführt.</translation>
  </message>
  <message>
   <source>{first:,} to {end:,}</source>
   <translation>{first:,} bis {end:,}</translation>
  </message>
  <message>
   <source>{first:,} to {last:,}</source>
   <translation>{first:,} bis {last:,}</translation>
  </message>
  <message>
   <source>{first} to {end}</source>
   <translation>{first} bis {end}</translation>
  </message>
  <message>
   <source>{free} of {all} free</source>
   <translation>{free} von {all} frei</translation>
  </message>
  <message>
   <source>{group} already reads {topic}</source>
   <translation>{group} liest {topic} schon</translation>
  </message>
  <message>
   <source>{group} already reads {topic}.</source>
   <translation>{group} liest {topic} schon.</translation>
  </message>
  <message>
   <source>{group} does not read {topic}.</source>
   <translation>{group} liest {topic} nicht.</translation>
  </message>
  <message>
   <source>{group} has members, which must stop first: {who}.</source>
   <translation>{group} hat Mitglieder, die zuerst anhalten müssen: {who}.</translation>
  </message>
  <message>
   <source>{group} has members; move them out first.</source>
   <translation>{group} hat Mitglieder; sie erst herausnehmen.</translation>
  </message>
  <message>
   <source>{group} has no members to assign partitions to.</source>
   <translation>{group} hat keine Mitglieder, denen Partitionen zugewiesen werden könnten.</translation>
  </message>
  <message>
   <source>{group} has {count} members; stop them first, or let the reset stop and start them.</source>
   <translation>{group} hat {count} Mitglieder; sie erst stoppen oder vom Zurücksetzen stoppen und starten lassen.</translation>
  </message>
  <message>
   <source>{group} is {lag} behind, falling by {pace}/s over {over}: drained in {time}.</source>
   <translation>{group} liegt {lag} zurück, über {over} um {pace}/s fallend: aufgeholt in {time}.</translation>
  </message>
  <message>
   <source>{group} is {lag} behind, rising by {pace}/s over {over}.</source>
   <translation>{group} liegt {lag} zurück, über {over} um {pace}/s steigend.</translation>
  </message>
  <message>
   <source>{group} is {lag} behind, steady over {over}.</source>
   <translation>{group} liegt {lag} zurück, über {over} gleichbleibend.</translation>
  </message>
  <message>
   <source>{group} rebalanced, some time before: {cause}</source>
   <translation>{group} hat vor einiger Zeit rebalanciert: {cause}</translation>
  </message>
  <message>
   <source>{group} rebalanced, {{lasted}}: {cause}</source>
   <translation>Rebalance von {group}, {{lasted}}: {cause}</translation>
  </message>
  <message>
   <source>{group} rebalances, {{lasted}}: {cause}</source>
   <translation>Rebalance von {group} läuft, {{lasted}}: {cause}</translation>
  </message>
  <message>
   <source>{group} would read nothing; move its consumers out and delete it.</source>
   <translation>{group} würde nichts mehr lesen; verschieben Sie ihre Consumer und löschen Sie sie.</translation>
  </message>
  <message>
   <source>{group}, generation {generation}: {cause}</source>
   <translation>{group}, Generation {generation}: {cause}</translation>
  </message>
  <message>
   <source>{group}: {cause}</source>
   <translation>{group}: {cause}</translation>
  </message>
  <message>
   <source>{group}: {owner}{revoked}, committed {committed}, lag {lag}</source>
   <translation>{group}: {owner}{revoked}, committet {committed}, Rückstand {lag}</translation>
  </message>
  <message>
   <source>{holds}; lasts {seconds} s</source>
   <translation>{holds}; hält {seconds} s an</translation>
  </message>
  <message>
   <source>{jobs} is not finished. Quit and cancel it?</source>
   <translation>{jobs} ist noch nicht fertig. Beenden und abbrechen?</translation>
  </message>
  <message>
   <source>{kind}: all</source>
   <translation>{kind}: alle</translation>
  </message>
  <message>
   <source>{kind}: all that begin with {name}</source>
   <translation>{kind}: alle, die mit {name} beginnen</translation>
  </message>
  <message>
   <source>{label}, and {count:,} more</source>
   <translation>{label}, und {count:,} weitere</translation>
  </message>
  <message>
   <source>{language}, id {id}; shown as JSON</source>
   <translation>{language}, Id {id}; als JSON gezeigt</translation>
  </message>
  <message>
   <source>{leader}; replicas {replicas}; in sync {in_sync}{of}</source>
   <translation>{leader}; Replikate {replicas}; synchron {in_sync}{of}</translation>
  </message>
  <message>
   <source>{letters} that hold {what}</source>
   <translation>{letters}, die {what} enthalten</translation>
  </message>
  <message>
   <source>{letters}, redriven at least {times}</source>
   <translation>{letters}, mindestens {times} zurückgeführt</translation>
  </message>
  <message>
   <source>{letters}, redriven at most {times}</source>
   <translation>{letters}, höchstens {times} zurückgeführt</translation>
  </message>
  <message>
   <source>{limit}, slowest reader {client}</source>
   <translation>{limit}, langsamster Leser {client}</translation>
  </message>
  <message>
   <source>{listed:,} of {whole:,} {what} are listed; the counts include all of them.</source>
   <translation>{listed:,} von {whole:,} {what} sind aufgelistet; die Anzahlen umfassen alle.</translation>
  </message>
  <message>
   <source>{listens} leads to {where}</source>
   <translation>{listens} führt zu {where}</translation>
  </message>
  <message>
   <source>{live} {speed}×, behind by {time}</source>
   <translation>{live} {speed}×, {time} im Rückstand</translation>
  </message>
  <message>
   <source>{live}, PAUSED</source>
   <translation>{live}, PAUSE</translation>
  </message>
  <message>
   <source>{looked} messages were searched, {end}; {found} match.</source>
   <translation>{looked} Nachrichten durchsucht, {end}; {found} passen.</translation>
  </message>
  <message>
   <source>{looked} of {whole} events have been searched so far.</source>
   <translation>Bisher {looked} von {whole} Ereignissen durchsucht.</translation>
  </message>
  <message>
   <source>{messages:,} messages in {rows:,} rows</source>
   <translation>{messages:,} Nachrichten in {rows:,} Zeilen</translation>
  </message>
  <message>
   <source>{messages} fails at {client}</source>
   <translation>{messages} schlägt bei {client} fehl</translation>
  </message>
  <message>
   <source>{messages} for {target} dropped before they were stored, and no producer was told</source>
   <translation>{messages} für {target} verworfen, bevor sie gespeichert waren, und kein Produzent hat es erfahren</translation>
  </message>
  <message>
   <source>{messages} hangs at {client}</source>
   <translation>{messages} hängt bei {client}</translation>
  </message>
  <message>
   <source>{messages} holding {part}</source>
   <translation>{messages} mit {part}</translation>
  </message>
  <message>
   <source>{messages} is a crash at {client}</source>
   <translation>{messages} ist ein Absturz bei {client}</translation>
  </message>
  <message>
   <source>{messages} is forgotten at {client}</source>
   <translation>{messages} wird bei {client} vergessen</translation>
  </message>
  <message>
   <source>{messages} of key {key}</source>
   <translation>{messages} mit Schlüssel {key}</translation>
  </message>
  <message>
   <source>{most} filters are kept already; delete one first.</source>
   <translation>{most} Filter sind schon gespeichert; zuerst einen löschen.</translation>
  </message>
  <message>
   <source>{moved:,} moved · {kept:,} kept</source>
   <translation>{moved:,} gewechselt · {kept:,} geblieben</translation>
  </message>
  <message>
   <source>{moved} moved, {kept} kept</source>
   <translation>{moved} wechseln, {kept} bleiben</translation>
  </message>
  <message>
   <source>{moved} would move, {kept} would stay</source>
   <translation>{moved} würden wechseln, {kept} würden bleiben</translation>
  </message>
  <message>
   <source>{names} also reads from here</source>
   <translation>auch {names} liest von hier</translation>
  </message>
  <message>
   <source>{names} and {count} more are connected to the broker of this session. End it?</source>
   <translation>{names} und {count} weitere sind mit dem Broker dieser Sitzung verbunden. Beenden?</translation>
  </message>
  <message>
   <source>{name}
Click to choose another scenario.</source>
   <translation>{name}
Klicken, um ein anderes Szenario zu wählen.</translation>
  </message>
  <message>
   <source>{name} (dead-letters)</source>
   <translation>{name} (macht Dead Letters daraus)</translation>
  </message>
  <message>
   <source>{name} (refuses)</source>
   <translation>{name} (weist ab)</translation>
  </message>
  <message>
   <source>{name} (retriable)</source>
   <translation>{name} (wiederholbar)</translation>
  </message>
  <message>
   <source>{name} - scenario</source>
   <translation>{name} - Szenario</translation>
  </message>
  <message>
   <source>{name} at {where}, polled every {period}; a poll takes {time}.</source>
   <translation>{name} auf {where}, alle {period} abgefragt; eine Abfrage dauert {time}.</translation>
  </message>
  <message>
   <source>{name} behind</source>
   <translation>{name} im Rückstand</translation>
  </message>
  <message>
   <source>{name} does not refer to a single thing; remove the brackets.</source>
   <translation>{name} bezieht sich nicht auf ein einzelnes Ding; die Klammern entfernen.</translation>
  </message>
  <message>
   <source>{name} does {rate} messages/s</source>
   <translation>{name} schafft {rate} Nachrichten/s</translation>
  </message>
  <message>
   <source>{name} for {time}</source>
   <translation>{name} seit {time}</translation>
  </message>
  <message>
   <source>{name} has crashed; restart it first.</source>
   <translation>{name} ist abgestürzt; erst neu starten.</translation>
  </message>
  <message>
   <source>{name} has no {field} here; did you mean {other}?</source>
   <translation>{name} hat hier kein {field}; meinten Sie {other}?</translation>
  </message>
  <message>
   <source>{name} has no {field} here; nothing has.</source>
   <translation>{name} hat hier kein {field}; nichts hat das.</translation>
  </message>
  <message>
   <source>{name} has no {field} here; there are {names} and {count} more.</source>
   <translation>{name} hat hier kein {field}; es gibt {names} und {count} weitere.</translation>
  </message>
  <message>
   <source>{name} has no {field} here; there are {names}.</source>
   <translation>{name} hat hier kein {field}; es gibt {names}.</translation>
  </message>
  <message>
   <source>{name} has not crashed.</source>
   <translation>{name} ist nicht abgestürzt.</translation>
  </message>
  <message>
   <source>{name} is full: {depth}</source>
   <translation>{name} ist voll: {depth}</translation>
  </message>
  <message>
   <source>{name} is locked.</source>
   <translation>{name} ist gesperrt.</translation>
  </message>
  <message>
   <source>{name} is never {value}; did you mean {other}?</source>
   <translation>{name} ist nie {value}; meinten Sie {other}?</translation>
  </message>
  <message>
   <source>{name} is never {value}; it is one of {names}.</source>
   <translation>{name} ist nie {value}, sondern eines von {names}.</translation>
  </message>
  <message>
   <source>{name} is not base64.</source>
   <translation>{name} ist kein Base64.</translation>
  </message>
  <message>
   <source>{name} is not on the canvas now.</source>
   <translation>{name} ist jetzt nicht auf der Zeichenfläche.</translation>
  </message>
  <message>
   <source>{name} is rebalancing</source>
   <translation>{name} ist im Rebalance</translation>
  </message>
  <message>
   <source>{name} is unlocked for 15 minutes.</source>
   <translation>{name} ist für 15 Minuten entsperrt.</translation>
  </message>
  <message>
   <source>{name} is {kind}</source>
   <translation>{name} ist {kind}</translation>
  </message>
  <message>
   <source>{name} is {state}</source>
   <translation>{name} ist {state}</translation>
  </message>
  <message>
   <source>{name} is {value} instead of {base}</source>
   <translation>{name} ist {value} statt {base}</translation>
  </message>
  <message>
   <source>{name} takes {rate} messages/s</source>
   <translation>{name} nimmt {rate} Nachrichten/s</translation>
  </message>
  <message>
   <source>{name}/{partition}: offsets {start_offset:,} to {end_offset:,}</source>
   <translation>{name}/{partition}: Offsets {start_offset:,} bis {end_offset:,}</translation>
  </message>
  <message>
   <source>{number} token</source>
   <translation>{number} Token</translation>
  </message>
  <message>
   <source>{number} tokens</source>
   <translation>{number} Tokens</translation>
  </message>
  <message>
   <source>{n} times</source>
   <translation>{n}-mal</translation>
  </message>
  <message>
   <source>{offset:,}, {behind:,} before the end</source>
   <translation>{offset:,}, {behind:,} vor dem Ende</translation>
  </message>
  <message>
   <source>{place} ends at {limit}, and {reader} committed {committed}</source>
   <translation>{place} endet bei {limit}, und {reader} hat {committed} committet</translation>
  </message>
  <message>
   <source>{place} from {old} to {new}</source>
   <translation>{place} von {old} zu {new}</translation>
  </message>
  <message>
   <source>{place} has expired before {reader} acknowledged it{more}</source>
   <translation>{place} ist abgelaufen, bevor {reader} sie bestätigt hat{more}</translation>
  </message>
  <message>
   <source>{place} has expired, and nobody had read it{more}</source>
   <translation>{place} ist abgelaufen, und niemand hatte sie gelesen{more}</translation>
  </message>
  <message>
   <source>{place} is the first of {messages} that {reader} has not acknowledged ({states})</source>
   <translation>{place} ist die erste von {messages}, die {reader} nicht bestätigt hat ({states})</translation>
  </message>
  <message>
   <source>{place} may have been handled twice: {before} had it and {why}; {after} was given it again{more}</source>
   <translation>{place} kann doppelt verarbeitet worden sein: {before} hatte sie und {why}; {after} bekam sie noch einmal{more}</translation>
  </message>
  <message>
   <source>{place} stays with {new}</source>
   <translation>{place} bleibt bei {new}</translation>
  </message>
  <message>
   <source>{place} to {last:,}</source>
   <translation>{place} bis {last:,}</translation>
  </message>
  <message>
   <source>{place} was deleted before {reader} had read it{more}</source>
   <translation>{place} wurde gelöscht, bevor {reader} sie gelesen hatte{more}</translation>
  </message>
  <message>
   <source>{place} was deleted, and nobody had read it{more}</source>
   <translation>{place} wurde gelöscht, und niemand hatte sie gelesen{more}</translation>
  </message>
  <message>
   <source>{place} was delivered to {client} of {group}, and deleted before it was acknowledged{more}</source>
   <translation>{place} wurde {client} von {group} zugestellt und gelöscht, bevor sie bestätigt war{more}</translation>
  </message>
  <message>
   <source>{place} was evicted before {reader} acknowledged it{more}</source>
   <translation>{place} wurde verdrängt, bevor {reader} sie bestätigt hat{more}</translation>
  </message>
  <message>
   <source>{place} was evicted, and nobody had read it{more}</source>
   <translation>{place} wurde verdrängt, und niemand hatte sie gelesen{more}</translation>
  </message>
  <message>
   <source>{place} was given to its group up to {limit}, and {reader} committed {committed}</source>
   <translation>{place} wurde der Gruppe bis {limit} gegeben, und {reader} hat {committed} committet</translation>
  </message>
  <message>
   <source>{place} was never published, between others that were{more}</source>
   <translation>{place} wurde nie veröffentlicht, zwischen anderen, die es wurden{more}</translation>
  </message>
  <message>
   <source>{place} was purged before {reader} acknowledged it{more}</source>
   <translation>{place} wurde geleert, bevor {reader} sie bestätigt hat{more}</translation>
  </message>
  <message>
   <source>{place} was purged, and nobody had read it{more}</source>
   <translation>{place} wurde geleert, und niemand hatte sie gelesen{more}</translation>
  </message>
  <message>
   <source>{place} was skipped by {reader}: it committed beyond it, and was never given it{more}</source>
   <translation>{place} wurde von {reader} übersprungen: committet wurde weiter hinten, gegeben wurde sie nie{more}</translation>
  </message>
  <message>
   <source>{place} with key {key} is delivered to {reader} after {later}, which was published later</source>
   <translation>{place} mit Schlüssel {key} wird {reader} nach {later} zugestellt, die später veröffentlicht wurde</translation>
  </message>
  <message>
   <source>{place}, held by {client}</source>
   <translation>{place}, gehalten von {client}</translation>
  </message>
  <message>
   <source>{place}: no reader for {time}, from {start}</source>
   <translation>{place}: {time} kein Leser, ab {start}</translation>
  </message>
  <message>
   <source>{processed:,} acknowledged</source>
   <translation>{processed:,} bestätigt</translation>
  </message>
  <message>
   <source>{processed:,} acknowledged, {failed:,} failed</source>
   <translation>{processed:,} bestätigt, {failed:,} gescheitert</translation>
  </message>
  <message>
   <source>{processed:,} published to {target}</source>
   <translation>{processed:,} an {target} gesendet</translation>
  </message>
  <message>
   <source>{published:,} messages</source>
   <translation>{published:,} Nachrichten</translation>
  </message>
  <message>
   <source>{queue} has {count} messages and {dead} dead letters; its workers will have nothing to do. It can be restored for {minutes} minutes of session time (Ctrl+Z).</source>
   <translation>{queue} hält {count} Nachrichten und {dead} Dead Letters; ihre Worker haben dann nichts zu tun. {minutes} Minuten Sitzungszeit lang lässt sie sich zurückholen (Strg+Z).</translation>
  </message>
  <message>
   <source>{queue}, number {offset:,}</source>
   <translation>{queue}, Nummer {offset:,}</translation>
  </message>
  <message>
   <source>{rate} messages/s</source>
   <translation>{rate} Nachrichten/s</translation>
  </message>
  <message>
   <source>{rate} messages/s, mean of {time}</source>
   <translation>{rate} Nachrichten/s, Mittel über {time}</translation>
  </message>
  <message>
   <source>{rate}/s acknowledged in its group</source>
   <translation>{rate}/s bestätigt in seiner Gruppe</translation>
  </message>
  <message>
   <source>{rate}/s fetched</source>
   <translation>{rate}/s abgerufen</translation>
  </message>
  <message>
   <source>{rate}/s fetched: its group keeps its offsets elsewhere</source>
   <translation>{rate}/s abgerufen: seine Gruppe führt ihre Offsets woanders</translation>
  </message>
  <message>
   <source>{reader} has read nothing</source>
   <translation>{reader} hat nichts gelesen</translation>
  </message>
  <message>
   <source>{ready:,} ready, {delayed:,} delayed, {in_flight:,} in flight</source>
   <translation>{ready:,} bereit, {delayed:,} verzögert, {in_flight:,} in Arbeit</translation>
  </message>
  <message>
   <source>{refused} would stay.</source>
   <translation>{refused} würden bleiben.</translation>
  </message>
  <message>
   <source>{requests} for partition {count}</source>
   <translation>{requests} für Partition {count}</translation>
  </message>
  <message>
   <source>{requests} in {group}</source>
   <translation>{requests} in {group}</translation>
  </message>
  <message>
   <source>{requests} of {client}</source>
   <translation>{requests} von {client}</translation>
  </message>
  <message>
   <source>{requests} to {topic}</source>
   <translation>{requests} an {topic}</translation>
  </message>
  <message>
   <source>{seconds} s</source>
   <translation>{seconds} s</translation>
  </message>
  <message>
   <source>{sentence}
Consumers on the bench belong to no group and read nothing.</source>
   <translation>{sentence}
Consumer auf der Bank gehören zu keiner Gruppe und lesen nichts.</translation>
  </message>
  <message>
   <source>{sentence} (column {column})</source>
   <translation>{sentence} (Spalte {column})</translation>
  </message>
  <message>
   <source>{share}, {count} of {total} messages</source>
   <translation>{share}, {count} von {total} Nachrichten</translation>
  </message>
  <message>
   <source>{shown:,} of {total:,} are shown</source>
   <translation>{shown:,} von {total:,} zu sehen</translation>
  </message>
  <message>
   <source>{size} bytes</source>
   <translation>{size} Bytes</translation>
  </message>
  <message>
   <source>{size} in memory, nothing on disk</source>
   <translation>{size} im Speicher, nichts auf der Platte</translation>
  </message>
  <message>
   <source>{size} in {count} segments</source>
   <translation>{size} in {count} Segmenten</translation>
  </message>
  <message>
   <source>{size} of recordings</source>
   <translation>{size} an Aufzeichnungen</translation>
  </message>
  <message>
   <source>{size} on disk</source>
   <translation>{size} auf der Platte</translation>
  </message>
  <message>
   <source>{source} to {target}, Blocked</source>
   <translation>{source} nach {target}, blockiert</translation>
  </message>
  <message>
   <source>{source} to {target}, Stopped by the rebalance</source>
   <translation>{source} nach {target}, durch den Rebalance angehalten</translation>
  </message>
  <message>
   <source>{source} to {target}, {rate}</source>
   <translation>{source} nach {target}, {rate}</translation>
  </message>
  <message>
   <source>{start} to {end}</source>
   <translation>{start} bis {end}</translation>
  </message>
  <message>
   <source>{start} to {end}, read on until {time}</source>
   <translation>{start} bis {end}, las weiter bis {time}</translation>
  </message>
  <message>
   <source>{start} to {end}, reads on until its next heartbeat</source>
   <translation>{start} bis {end}, liest weiter bis zu seinem nächsten Heartbeat</translation>
  </message>
  <message>
   <source>{state}, {members}, reads {topics}</source>
   <translation>{state}, {members}, liest {topics}</translation>
  </message>
  <message>
   <source>{state}: {step}</source>
   <translation>{state}: {step}</translation>
  </message>
  <message>
   <source>{subject}, version {version}</source>
   <translation>{subject}, Version {version}</translation>
  </message>
  <message>
   <source>{target} is full</source>
   <translation>{target} ist voll</translation>
  </message>
  <message>
   <source>{target} is limited to a number of messages per second</source>
   <translation>{target} hat ein Limit an Nachrichten pro Sekunde</translation>
  </message>
  <message>
   <source>{target}: {state}, depth {depth}</source>
   <translation>{target}: {state}, Tiefe {depth}</translation>
  </message>
  <message>
   <source>{times}, to {who}</source>
   <translation>{times}, an {who}</translation>
  </message>
  <message>
   <source>{time} ago</source>
   <translation>vor {time}</translation>
  </message>
  <message>
   <source>{time} by {target}; </source>
   <translation>{time} durch {target}; </translation>
  </message>
  <message>
   <source>{time} for more to send together</source>
   <translation>{time} auf mehr zum gemeinsamen Senden</translation>
  </message>
  <message>
   <source>{time} in all</source>
   <translation>{time} insgesamt</translation>
  </message>
  <message>
   <source>{time} later</source>
   <translation>{time} später</translation>
  </message>
  <message>
   <source>{time} left</source>
   <translation>{time} übrig</translation>
  </message>
  <message>
   <source>{time} rebalance</source>
   <translation>{time} Rebalance</translation>
  </message>
  <message>
   <source>{time} so far; no partition has lost its reader</source>
   <translation>bisher {time}; keine Partition hat ihren Leser verloren</translation>
  </message>
  <message>
   <source>{time} until the crash was noticed</source>
   <translation>{time}, bis der Absturz bemerkt wurde</translation>
  </message>
  <message>
   <source>{time} until the first fetch</source>
   <translation>{time} bis zum ersten Fetch</translation>
  </message>
  <message>
   <source>{time} until the pause was noticed</source>
   <translation>{time}, bis die Pause bemerkt wurde</translation>
  </message>
  <message>
   <source>{time} until the silence was noticed</source>
   <translation>{time}, bis die Stille bemerkt wurde</translation>
  </message>
  <message>
   <source>{time}, since {since}</source>
   <translation>{time}, seit {since}</translation>
  </message>
  <message>
   <source>{tip}
Nothing is written to it. Session &gt; Unlock opens it for a while.</source>
   <translation>{tip}
In ihn wird nichts geschrieben. Sitzung &gt; Entsperren öffnet ihn für eine Weile.</translation>
  </message>
  <message>
   <source>{title}, started {started}, was still open when the program died.{more}</source>
   <translation>{title}, begonnen {started}, war noch offen, als das Programm abstürzte.{more}</translation>
  </message>
  <message>
   <source>{topics}, with the others of its group</source>
   <translation>{topics}, mit den anderen seiner Gruppe</translation>
  </message>
  <message>
   <source>{topic} contains dead letters.</source>
   <translation>{topic} enthält Dead Letters.</translation>
  </message>
  <message>
   <source>{topic} does not contain dead letters.</source>
   <translation>{topic} enthält keine Dead Letters.</translation>
  </message>
  <message>
   <source>{topic} has {count} messages in {partitions} partitions.{read} It can be restored for {minutes} minutes of session time (Ctrl+Z).</source>
   <translation>{topic} hält {count} Nachrichten in {partitions} Partitionen.{read} {minutes} Minuten Sitzungszeit lang lässt es sich zurückholen (Strg+Z).</translation>
  </message>
  <message>
   <source>{topic} is full</source>
   <translation>{topic} ist voll</translation>
  </message>
  <message>
   <source>{topic} is full: {count} of {most} bytes</source>
   <translation>{topic} ist voll: {count} von {most} Bytes</translation>
  </message>
  <message>
   <source>{topic} is full: {count} of {most} messages</source>
   <translation>{topic} ist voll: {count} von {most} Nachrichten</translation>
  </message>
  <message>
   <source>{topic} is full: {count} of {most} messages wait for it</source>
   <translation>{topic} ist voll: {count} von {most} Nachrichten warten darauf</translation>
  </message>
  <message>
   <source>{topic} takes at most {rate} messages/s</source>
   <translation>{topic} nimmt höchstens {rate} Nachrichten/s an</translation>
  </message>
  <message>
   <source>{topic}, {rate} messages/s</source>
   <translation>{topic}, {rate} Nachrichten/s</translation>
  </message>
  <message>
   <source>{topic}/{partition} at offset {offset:,}</source>
   <translation>{topic}/{partition} bei Offset {offset:,}</translation>
  </message>
  <message>
   <source>{topic}/{partition} at {offset:,}</source>
   <translation>{topic}/{partition} bei {offset:,}</translation>
  </message>
  <message>
   <source>{topic}/{partition}, read by {client}</source>
   <translation>{topic}/{partition}, gelesen von {client}</translation>
  </message>
  <message>
   <source>{version} of {count}</source>
   <translation>{version} von {count}</translation>
  </message>
  <message>
   <source>{waiting} and {in_hand}</source>
   <translation>{waiting} und {in_hand}</translation>
  </message>
  <message>
   <source>{what} at {time}</source>
   <translation>{what} um {time}</translation>
  </message>
  <message>
   <source>{what} for {time} s</source>
   <translation>{what}, für {time} s</translation>
  </message>
  <message>
   <source>{what} is over</source>
   <translation>{what}: vorbei</translation>
  </message>
  <message>
   <source>{what} {count:,}</source>
   <translation>{what} {count:,}</translation>
  </message>
  <message>
   <source>{what}, 1 time</source>
   <translation>{what}, 1-mal</translation>
  </message>
  <message>
   <source>{what}, every {count}nd</source>
   <translation>{what}, jeder {count}.</translation>
  </message>
  <message>
   <source>{what}, every {count}rd</source>
   <translation>{what}, jeder {count}.</translation>
  </message>
  <message>
   <source>{what}, every {count}st</source>
   <translation>{what}, jeder {count}.</translation>
  </message>
  <message>
   <source>{what}, every {count}th</source>
   <translation>{what}, jeder {count}.</translation>
  </message>
  <message>
   <source>{what}, {count} of them</source>
   <translation>{what}, {count} davon</translation>
  </message>
  <message>
   <source>{what}, {count} times</source>
   <translation>{what}, {count}-mal</translation>
  </message>
  <message>
   <source>{what}; write it like {examples}.</source>
   <translation>{what}; schreiben Sie es wie {examples}.</translation>
  </message>
  <message>
   <source>{where} at {first:,} to {last:,}</source>
   <translation>{where} bei {first:,} bis {last:,}</translation>
  </message>
  <message>
   <source>{where} at {offset:,}</source>
   <translation>{where} bei {offset:,}</translation>
  </message>
  <message>
   <source>{where} every {period}</source>
   <translation>{where} alle {period}</translation>
  </message>
  <message>
   <source>{who}: connection ended</source>
   <translation>{who}: Verbindung beendet</translation>
  </message>
  <message>
   <source>{who}: {what} ({time})</source>
   <translation>{who}: {what} ({time})</translation>
  </message>
  <message>
   <source>{why} Once more undoes: {what}</source>
   <translation>{why} Noch einmal macht rückgängig: {what}</translation>
  </message>
  <message>
   <source>{why} Save its recording (Ctrl+S) or a page of it (Ctrl+Shift+H) instead.</source>
   <translation>{why} Speichern Sie stattdessen ihre Aufzeichnung (Strg+S) oder eine Seite davon (Strg+Umschalt+H).</translation>
  </message>
  <message>
   <source>{word}, UNLOCKED {time}</source>
   <translation>{word}, ENTSPERRT {time}</translation>
  </message>
  <message>
   <source>{word}, read-only</source>
   <translation>{word}, nur lesend</translation>
  </message>
  <message>
   <source>~{name} has no meaning here; rows here have no flags.</source>
   <translation>~{name} hat hier keine Bedeutung; Zeilen hier haben keine Merkmale.</translation>
  </message>
  <message>
   <source>~{name} has no meaning here; there are {flags}.</source>
   <translation>~{name} hat hier keine Bedeutung; es gibt {flags}.</translation>
  </message>
  <message>
   <source>… {count} more steps …</source>
   <translation>… {count} weitere Schritte …</translation>
  </message>
 </context>
</TS>
